"""What a live run found, server by server, for the end of its output."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

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
    """Lines for each server: what answers, how many tests came to what, what was skipped and why, what was found."""
    for label, notes in book.items():
        generation = "not described" if notes.server is None else f"{notes.server.generation} generation"
        counts = {each: sum(_about(label, report) for report in reports.get(each, ())) for each in OUTCOMES}
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
        yield f"{label}: release {notes.release}, {generation}; {told}"
        yield from sorted({f"  skipped: {words}" for words in _skips(label, reports)})
        yield from (f"  found: {words}" for words in notes.found)


def _skips(label: str, reports: dict[str, list[pytest.TestReport]]) -> Iterator[str]:
    for report in reports.get("skipped", ()):
        if _about(label, report) and isinstance(report.longrepr, tuple):
            yield report.longrepr[2].removeprefix("Skipped: ")


def _about(label: str, report: pytest.TestReport) -> bool:
    """Whether a test was run on a server: its label is what begins the brackets after the test's name."""
    parameters = report.nodeid.partition("[")[2]
    return parameters.startswith((f"{label}]", f"{label}-"))
