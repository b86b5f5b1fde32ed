"""The page with the unsaved edits for one server: an entry for each run of the deck, so that two decks never fight.

An entry belongs to the process that writes it until that ends; what it leaves behind is offered to the next one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

MOST = 20
"""Entries of ended runs that are kept, the newest ones."""

Page = Mapping[str, Any] | None
"""Run -> its entry, as it comes from a note and so perhaps anything."""


@dataclass(frozen=True)
class KeptDraft:
    """Edits that a run left behind; `says` is what `keeping.from_note` reads."""

    run: str
    at: datetime
    edits: int
    says: Any


def with_entry(page: Page, run: str, kept: KeptDraft, process: str) -> Page:
    """The page with a run's edits, in place of those it had there; `process` is empty once the run has ended."""
    entry = {"at": kept.at.isoformat(), "edits": kept.edits, "process": process, "says": kept.says}
    return _bounded({**_entries(page), run: entry})


def without_entry(page: Page, run: str) -> Page:
    """The page without a run's edits; None when nothing is left on it."""
    left = {other: entry for other, entry in _entries(page).items() if other != run}
    return left or None


def left_behind(page: Page, run: str) -> Page:
    """The page on which a run has ended."""
    entries = _entries(page)
    return {**entries, run: {**entries[run], "process": ""}} if run in entries else page


def offered(page: Page, is_running: Callable[[str], bool]) -> tuple[KeptDraft, ...]:
    """What runs left behind, newest first; not what a living process still works on."""
    found = (_read(run, entry) for run, entry in _entries(page).items() if not is_running(str(entry.get("process"))))
    return tuple(sorted((kept for kept in found if kept is not None), key=lambda kept: kept.at, reverse=True))


def _read(run: str, entry: Mapping[str, Any]) -> KeptDraft | None:
    try:
        at = datetime.fromisoformat(entry["at"])
        return KeptDraft(run, at.astimezone() if at.tzinfo is None else at, int(entry["edits"]), entry["says"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _entries(page: Page) -> dict[str, Any]:
    """What can be an entry on a page; the rest makes no sense and is left out."""
    if not isinstance(page, dict):
        return {}
    return {run: entry for run, entry in page.items() if isinstance(entry, dict)}


def _bounded(entries: dict[str, Any]) -> dict[str, Any]:
    newest = sorted(entries, key=lambda run: str(entries[run].get("at")), reverse=True)[:MOST]
    return {run: entry for run, entry in entries.items() if run in newest}
