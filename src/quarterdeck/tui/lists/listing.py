"""What a list screen has to know of what it lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from quarterdeck.fleet.ages import JUST_NOW, age_of
from quarterdeck.fleet.filters import Grammar
from quarterdeck.fleet.health import Health, HealthState, health_words
from quarterdeck.fleet.news import About, News
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.look import glyph
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session


class Row(Protocol):
    """A row of a list."""

    @property
    def id(self) -> str:
        """Its id, unique in the list."""
        ...

    @property
    def haystack(self) -> str:
        """All of its text that a filter looks into, case folded."""
        ...


R = TypeVar("R", bound=Row)


class Listing(Protocol[R]):
    """What is listed: which rows there are, how they look, and in which order they stand by default."""

    about: About
    columns: Sequence[Column[R]]
    grammar: Grammar[R]
    """The tokens its filter knows."""
    status_name: str
    """The token of the filter that looks at the word of a row."""
    noun: str
    """What several rows are called."""

    def ids(self, session: Session) -> Iterable[str]:
        """The ids of all rows, in the server's order."""
        ...

    def row(self, session: Session, row_id: str, now: datetime, before: R | None) -> R | None:
        """The row of an id as it is now, `before` itself when nothing changed; None when it is no row."""
        ...

    def touched(self, session: Session, news: News) -> Iterable[str]:
        """The ids of rows of which there may be something new to show."""
        ...

    def passing(self, session: Session, now: datetime) -> Iterable[str]:
        """The ids of rows whose word or place may change as time passes."""
        ...

    def health(self, session: Session) -> Health:
        """How the readings of this list are going."""
        ...

    def attention(self, row: R, now: datetime) -> Any:
        """The key of the default order: what needs a look first."""
        ...

    def pressing(self, row: R, now: datetime) -> bool:
        """Whether a row needs a look so much that it should come onto the screen soon."""
        ...

    def word(self, row: R, now: datetime) -> str:
        """The word a row is counted by."""
        ...

    def unseen(self, row: R) -> bool:
        """Whether there is news of a row that nobody looked at."""
        ...

    def counts(self, words: Counter[str]) -> Cell:
        """How many rows are in which state."""
        ...

    def nothing(self, session: Session | None) -> tuple[Shown, Shown]:
        """What an empty list says, and what its reader can do."""
        ...

    def detail(self, row: R, now: datetime) -> list[Cell]:
        """Everything known about a row."""
        ...


AGE_STEP = 5.0
"""Seconds between two changes of the age in the header: each one is bytes to a terminal that may be far away."""

HEALTH_TONES = {
    HealthState.LOADING: Tone.BUSY,
    HealthState.ONLINE: Tone.GOOD,
    HealthState.DEGRADED: Tone.WARN,
    HealthState.OFFLINE: Tone.BAD,
    HealthState.REFUSED: Tone.BAD,
}


def health_cell(health: Health, now: float) -> Cell:
    """How fresh a list is; while all is well its age moves in steps."""
    if health.read_at is not None and health.error is None:
        now = health.read_at + (now - health.read_at) // AGE_STEP * AGE_STEP
    return cell(text.line(health_words(health, now)), HEALTH_TONES[health.state])


def unread(session: Session | None, health: Health | None, noun: str) -> tuple[Shown, Shown] | None:
    """What an empty list says while it is not known to be empty; None where it is."""
    if session is None or health is None:
        return Shown(f"Reading the {noun}…"), Shown("")
    if session.key_refused or health.state is HealthState.REFUSED:
        return Shown(f"The {noun} were not read: the key is refused."), Shown("c, then K gives another key.")
    if health.error is not None and health.read_at is None:
        return Shown(f"The {noun} could not be read."), Shown("ctrl+r tries again now.")
    if health.read_at is None:
        return Shown(f"Reading the {noun}…"), Shown("")
    if health.unreadable:
        return Shown(f"{health.unreadable:,} {noun} could not be read."), Shown("L shows what was answered.")
    return None


def counted(word: str, count: int) -> Cell:
    """How many rows show a word, for the line above a list."""
    return tally(count, word, *glyph(word))


def tally(count: int, word: str, sign: str, tone: Tone) -> Cell:
    """A number of rows between a sign and a word; numbers of all tones look alike, so that few bytes change them."""
    return (Shown(f"{sign} "), tone), (Shown(f"{count}"), Tone.PLAIN), (Shown(f" {text.line(word)}  "), tone)


LABEL_WIDE = 16


UNKNOWN = (Shown("-"), Tone.MUTED)


def fact(label: str, *value: tuple[Shown, Tone]) -> Cell:
    """One line of a detail: a label of ours, then what is known."""
    return ((Shown(f"{label:<{LABEL_WIDE}}"), Tone.MUTED), *(value or (UNKNOWN,)))


def known(said: Iterable[Cell]) -> list[Cell]:
    """The lines of a detail that say something, for a place with little room."""
    return [line for line in said if not line or line[-1] != UNKNOWN]


def text_fact(label: str, value: str | None, tone: Tone = Tone.PLAIN) -> Cell:
    """One line of a detail with a server's text, a dash where there is none."""
    return fact(label, (text.line(value), tone)) if value else fact(label)


def heading(title: str) -> Cell:
    """A heading inside a detail."""
    return cell(Shown(title), Tone.STRONG)


def moment_fact(label: str, told: datetime | None, moment: datetime | None, now: datetime) -> Cell:
    """One line of a detail with a moment: the UTC time that the server told, and how long ago it was by our clock."""
    if told is None:
        return fact(label)
    time = f"{told:%Y-%m-%d %H:%M}Z"
    if moment is None:
        return fact(label, (Shown(time), Tone.PLAIN), (Shown("  ahead of any clock"), Tone.WARN))
    age = age_of(moment, now)
    said = Shown(age if age == JUST_NOW else f"{age} ago")
    return fact(label, (said, Tone.PLAIN), (Shown(f"  {time}"), Tone.MUTED))
