"""`quarterdeck settings set KEY=VALUE ...`: change some settings, keep the others, and read back what is stored."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import SecretStr, ValidationError

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import as_json, note, say
from quarterdeck.config import Config
from quarterdeck.draft import limits
from quarterdeck.draft.catalogue import BY_KEY
from quarterdeck.draft.draft import MCP, Draft
from quarterdeck.draft.field import Control, Field
from quarterdeck.draft.form_fields import fields_on, kind_in
from quarterdeck.draft.mcp import Servers, identities, listed
from quarterdeck.draft.verify import Verified, verify
from quarterdeck.service.client import ServiceClient
from quarterdeck.service.generations import secrets_lost
from quarterdeck.service.models.mcp import McpConfig

FROM_INPUT = "-"
_WORDS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


def run(arguments: CommandLine, config: Config) -> int:
    """Store the changes; 0 only when all of them were read back."""
    typed = _typed(arguments.assignments)

    async def change(client: ServiceClient) -> int:
        server = await client.describe()
        base = await client.settings.load()
        fields = fields_on(server, await client.settings.schema(), kind_in(base))
        draft = edited(Draft(base, fields=fields), typed)
        if stops := [problem for problem in limits.problems(draft, server) if problem.stops]:
            raise CommandError(" ".join(f"{problem.key}: {problem.words}" for problem in stops), status=2)
        if draft.edited:
            struck = limits.servers_losing(secrets_lost(base, draft.changes)) if server.mcp_secrets_hidden else ()
            for loss in (*limits.losses(draft, server), *struck):
                note(f"this save loses something: {loss.words}")
            await client.settings.store(base, draft.changes)
        verified = verify(draft, await client.settings.load(), hidden=server.mcp_secrets_hidden)
        if base is None:  # a first record may hold more than was asked for: the server's own defaults
            verified = replace(verified, differences=tuple(each for each in verified.differences if each.asked))
        _report(verified, as_data=arguments.json)
        return 0 if verified.stored and not verified.untold else 1

    return with_client(arguments, config, change)


def edited(draft: Draft, typed: Sequence[tuple[str, str]]) -> Draft:
    """The draft with each typed value in its field; raises CommandError (status 2) for one that means nothing."""
    for key, text in typed:
        entry = BY_KEY[key]
        draft = draft.set(key, _servers(draft.servers, text) if key == MCP else _value(entry, text))
    return draft


def _typed(assignments: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The assignments, with what standard input holds in the place of "-"; raises CommandError (status 2)."""
    if len({key for key, _ in assignments}) < len(assignments):
        raise CommandError("A setting is named twice.", "Name each setting once.", status=2)
    if sum(text == FROM_INPUT for _, text in assignments) > 1:
        raise CommandError("Only one setting can come from standard input.", "Use one command for each.", status=2)
    for key, text in assignments:
        entry = BY_KEY.get(key)
        if entry is None or entry.control is Control.READ_ONLY:
            known = ", ".join(name for name, field in BY_KEY.items() if field.control is not Control.READ_ONLY)
            raise CommandError(f"{key!a} is not a setting that can be changed.", f"Those are: {known}.", status=2)
        if text not in ("", FROM_INPUT) and (entry.secret or key == MCP):
            advice = f"Write {key}=- and give the value on standard input."
            raise CommandError(f"{key} may hold a secret, and arguments are seen by others.", advice, status=2)
    return [(key, _input() if text == FROM_INPUT else text) for key, text in assignments]


def _input() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise CommandError("Standard input is a terminal.", "Pipe the value in; nothing is asked for here.", status=2)
    return sys.stdin.read().strip()


def _value(entry: Field, text: str) -> Any:
    if not text:
        return None
    if entry.secret:
        return SecretStr(text)
    if entry.control in (Control.SWITCH, Control.THREE_WAY):
        if text.lower() not in _WORDS:
            raise CommandError(f"{entry.key} is on or off.", f"Write {entry.key}=on or {entry.key}=off.", status=2)
        return _WORDS[text.lower()]
    return entry.reads(text)


def _servers(held: Servers, text: str) -> Servers:
    """The whole list given as JSON, each server taking the place of the held one of its name or address."""
    try:
        wanted = listed(McpConfig.model_validate_json(text or "{}"))
    except ValidationError as error:
        where = "; ".join(
            f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors(include_input=False)
        )
        raise CommandError(f"mcp_config: {where}.", "Give the three lists as one JSON object.", status=2) from None
    rows = dict(zip(identities(entry.server for entry in held.entries), held.entries, strict=True))
    for identity, server in zip(identities(wanted), wanted, strict=True):
        entry = rows.pop(identity, None)
        held = held.add(server) if entry is None else held.edit(entry.row, server)
    for entry in rows.values():
        held = held.remove(entry.row)
    return held


def _report(verified: Verified, *, as_data: bool) -> None:
    if as_data:
        differences = {each.key: {"meant": each.meant, "found": each.found} for each in verified.differences}
        as_json({"asked": verified.asked, "verified": verified.good, "differences": differences})
        return
    say(
        f"{verified.good} of {verified.asked} changes verified"
        if verified.asked
        else "nothing to change: stored already"
    )
    for each in verified.differences:
        note(f"{each.key}: meant {each.meant}, but the server holds {each.found}.")
    for label in verified.untold:
        note(f"{label}: sent, but this server does not tell whether it is stored.")
