"""What a live run found, server by server, for the end of its output."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

import pytest

from quarterdeck.client.models.server import Server

OUTCOMES = ("passed", "skipped", "failed", "error")


@dataclass
class Notes:
    """What tests tell of one server."""

    release: str = "unknown"
    server: Server | None = None
    found: list[str] = field(default_factory=list)

    def add(self, words: str) -> None:
        """Note something that was found, once."""
        if words not in self.found:
            self.found.append(words)


Book = defaultdict[str, Notes]
"""Label of a server -> what was noted of it."""


def summary(book: Book, reports: dict[str, list[pytest.TestReport]]) -> Iterator[str]:
    """Lines for each server: what answers, what was covered area by area, what was skipped and why, what was found."""
    for label, notes in book.items():
        generation = "not described" if notes.server is None else f"{notes.server.generation} generation"
        yield f"{label}: release {notes.release}, {generation}"
        yield from _table(_counts(label, reports))
        yield from sorted({f"  skipped: {words}" for words in _skips(label, reports)})
        yield from (f"  found: {words}" for words in notes.found)
        yield ""


def _table(counts: dict[str, Counter[str]]) -> Iterator[str]:
    shown = [outcome for outcome in OUTCOMES if any(count[outcome] for count in counts.values())]
    yield f"  {'':22}" + "".join(f"{outcome:>9}" for outcome in shown)
    for area, count in counts.items():
        yield f"  {area:22}" + "".join(f"{count[outcome] or '-':>9}" for outcome in shown)


def _counts(label: str, reports: dict[str, list[pytest.TestReport]]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in OUTCOMES:
        for report in reports.get(outcome, ()):
            if _about(label, report):
                counts[_area(report)][outcome] += 1
    return dict(sorted(counts.items()))


def _skips(label: str, reports: dict[str, list[pytest.TestReport]]) -> Iterator[str]:
    for report in reports.get("skipped", ()):
        if _about(label, report) and isinstance(report.longrepr, tuple):
            yield f"{_area(report)}: {report.longrepr[2].removeprefix('Skipped: ')}"


def _about(label: str, report: pytest.TestReport) -> bool:
    """Whether a test was run on a server: its label is what begins the brackets after the test's name."""
    parameters = report.nodeid.partition("[")[2]
    return parameters.startswith((f"{label}]", f"{label}-"))


def _area(report: pytest.TestReport) -> str:
    file = PurePath(report.nodeid.partition("::")[0])
    return "commands" if file.parent.name == "cli" else file.stem.removeprefix("test_").replace("_", " ")
