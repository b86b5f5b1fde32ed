"""What is wrong with a draft, in the order of the form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from quarterdeck.settings.fields.field import Control, Field
from quarterdeck.settings.mcp import checks as mcp_checks
from quarterdeck.settings.problem import Finding, Problem, Severity, warning

if TYPE_CHECKING:
    from quarterdeck.settings.draft import Draft


def problems_of(draft: Draft) -> Iterator[Problem]:
    """Each field's problem and all those of the MCP list; what is stored already and was not edited only warns."""
    for entry in draft.fields.fields:
        if entry.control is Control.SERVERS:
            yield from mcp_checks.problems(draft.servers)
        elif finding := _finding(draft, entry):
            severity = finding.severity if entry.key in draft.edits else Severity.WARNING
            yield Problem(entry.key, finding.words, severity)


def _finding(draft: Draft, entry: Field) -> Finding | None:
    value = draft.value(entry.key)
    if value is None or (value == "" and entry.key not in draft.edits):  # servers treat empty text as not set
        return None
    findings = [found for found in (check(value) for check in entry.checks) if found]
    stops = (finding for finding in findings if finding.severity is Severity.ERROR)
    return next(stops, None) or next(iter(findings), None) or _in_context(draft, entry.key)


def _in_context(draft: Draft, key: str) -> Finding | None:
    """What is odd about a value only beside another one."""
    if key == "llm_base_url" and str(draft.value("llm_model") or "").startswith("openhands/"):
        return warning("Models that begin with openhands/ have an address of their own; leave this not set.")
    if key == "security_analyzer" and key in draft.edits and not draft.value("confirmation_mode"):
        return warning("It has no effect while the agent does not ask before actions.")
    if key == "email_verified" and key in draft.edits:
        return warning("The service sets this itself; a value of yours may confuse it.")
    return None
