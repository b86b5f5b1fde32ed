"""What saves changed, kept so that the last one can be undone: without any secret."""

from typing import ClassVar, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.changes import Changes, Restored, field_changes, restored, server_changes
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.review import Line, lines

MOST_SAVES = 50
MOST_BYTES = 256 * 1024
"""How much of a journal is kept; the last save is, however large."""
LONGEST = 200
"""Letters of a value in a line for people."""


class Saved(Changes):
    """One save: when it was, and what it changed, also in lines for people, from old to new."""

    when: AwareDatetime
    release: str
    lines: tuple[str, ...]


class Journal(BaseModel):
    """The saves to one server, the newest last."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "journal"
    version: Literal[1] = 1
    saves: tuple[Saved, ...]


def saved_of(meant: Draft, found: Settings | None, when: AwareDatetime, release: str) -> Saved:
    """What a save changed, as the server holds it after (`found`, None where that could not be read).

    What did not arrive is left out.
    """
    seen = None if found is None else Draft(found, fields=meant.fields)
    return Saved(
        when=when,
        release=release,
        lines=tuple(map(_words, lines(meant))),
        fields=field_changes(meant, seen),
        servers=tuple(server_changes(meant, seen)),
    )


def with_save(journal: Journal | None, saved: Saved) -> Journal:
    """A journal with one more save; the oldest go when there are too many, or too much of them."""
    kept = [saved]
    size = _size(saved)
    for older in reversed(journal.saves if journal is not None else ()):
        size += _size(older)
        if len(kept) == MOST_SAVES or size > MOST_BYTES:
            break
        kept.insert(0, older)
    return Journal(saves=tuple(kept))


def last(journal: Journal | None) -> Saved | None:
    """The last save of a journal; None where there is none."""
    return journal.saves[-1] if journal is not None and journal.saves else None


def undone(saved: Saved, now: Draft) -> Restored:
    """The reverse of a save on top of what the server holds now; what has been changed again since is left alone."""
    return restored(saved.back, now, over_others=False)


def _words(line: Line) -> str:
    change = f"{_cut(line.old)} → {_cut(line.new)}" if line.old or line.new else ""
    return " ".join(filter(None, (f"{line.label}:", line.act, change)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _size(saved: Saved) -> int:
    return len(saved.model_dump_json().encode())
