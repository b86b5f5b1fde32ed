"""Parts of all lists and details: the age of the data, counts by state, facts and requests."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from quarterdeck.client.request import LoggedRequest
from quarterdeck.fleet.ages import age_of, age_or_date
from quarterdeck.fleet.bulk import N
from quarterdeck.fleet.health import Health, HealthState, health_words
from quarterdeck.fleet.watch import ON_SCREEN
from quarterdeck.tui import text
from quarterdeck.tui.cells import DASH, Cell, Span, Tone, cell
from quarterdeck.tui.glyphs import glyph
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column, R

AGE_STEP = ON_SCREEN + 1.0
"""Seconds between two changes of the age in the header; each one sends bytes to a terminal that may be far away.

Longer than it takes from one reading of what is on the screen to the next, so that the header rests while all is well.
"""

HEALTH_TONES = {
    HealthState.LOADING: Tone.BUSY,
    HealthState.ONLINE: Tone.GOOD,
    HealthState.DEGRADED: Tone.WARN,
    HealthState.OFFLINE: Tone.BAD,
    HealthState.REFUSED: Tone.BAD,
}


def health_cell(health: Health, now: float) -> Cell:
    """How fresh a list is; while all is well, the age changes in steps."""
    if health.read_at is not None and health.error is None:
        now = health.read_at + (now - health.read_at) // AGE_STEP * AGE_STEP
    return cell(health_words(health, now), HEALTH_TONES[health.state])


def counts_by_word(first: Iterable[str], counts: Counter[str]) -> Cell:
    """How many rows show each word, in the order of `first`, which has trouble first: a narrow screen cuts the end.

    The numbers have the same tone, so that a change sends few bytes.
    """
    said: list[Span] = []
    for word in dict.fromkeys([*first, *sorted(counts)]):
        if counts[word]:
            sign, tone = glyph(word)
            said += [(Shown(f"{sign} "), tone), (Shown(f"{counts[word]:,}"), Tone.PLAIN)]
            said.append((Shown(f" {text.line(word)}  "), tone))
    return tuple(said)


def text_column(
    key: str, title: str, width: int, of: Callable[[R], str | None], *, flex: int = 0, priority: int = 0
) -> Column[R]:
    """Return a muted column that shows a text of the server and sorts by it."""

    def shown(row: R, now: datetime) -> Cell:
        value = of(row)
        return cell(value, Tone.MUTED) if value else DASH

    return Column(key, title, width, shown, sort=of, flex=flex, priority=priority)


def money(dollars: float) -> Shown:
    """US dollars, to the cent."""
    return Shown(f"${dollars:,.2f}")


def cost_column(*, priority: int) -> Column[N]:
    """Return a column that shows a cost so far in US dollars, or a dash if there is none."""

    def shown(row: N, now: datetime) -> Cell:
        return cell(money(row.cost)) if row.cost else DASH

    return Column("cost", "COST", 7, shown, sort=lambda row: row.cost or None, priority=priority, right=True)


Moment = Callable[[R], datetime | None]
"""Returns a moment of a row."""


def age_column(key: str, title: str, width: int, told: Moment[R], here: Moment[R], *, priority: int = 0) -> Column[R]:
    """Return a column that shows how long ago the server's moment `told` was.

    It shows the date where `here`, the same moment by our clock, is None: too far in the future.
    """

    def shown(row: R, now: datetime) -> Cell:
        return cell(age_or_date(told(row), here(row), now), Tone.MUTED)

    return Column(key, title, width, shown, sort=lambda row: age_rank(here(row)), priority=priority, right=True)


def age_rank(since: datetime | None) -> float | None:
    """Return by what ages are sorted, which time does not change: the shortest first; None if it is not known."""
    return -since.timestamp() if since is not None else None


def title_or_untitled(title: str | None) -> Shown:
    """A conversation's title, or that it has none."""
    return text.line(title or "") or Shown("(untitled)")


LABEL_WIDE = 16
"""Cells for the label of a fact."""
UNKNOWN = (Shown("-"), Tone.MUTED)


def fact(label: str, *value: tuple[Shown, Tone]) -> Cell:
    """Return one line of a detail: a label, then the value."""
    return ((Shown(f"{label:<{LABEL_WIDE}}"), Tone.MUTED), *(value or (UNKNOWN,)))


def without_unknown(said: Iterable[Cell]) -> list[Cell]:
    """Return the lines of a detail that have a value, for a place with little room."""
    return [line for line in said if not line or line[-1] != UNKNOWN]


def text_fact(label: str, value: str | None, tone: Tone = Tone.PLAIN) -> Cell:
    """Return one line of a detail with a server's text, or a dash if there is none."""
    return fact(label, (text.line(value), tone)) if value else fact(label)


def heading(title: str) -> Cell:
    """Return a heading inside a detail."""
    return cell(title, Tone.STRONG)


def moment_fact(label: str, told: datetime | None, moment: datetime | None, now: datetime) -> Cell:
    """Return one line of a detail with a moment: how long ago it was by our clock, and the server's time in UTC.

    These two take at most 25 cells, as many as there are beside a list on 120 columns.
    """
    if told is None:
        return fact(label)
    time = f"{told:%Y-%m-%d %H:%M}Z"
    if moment is None:
        return fact(label, (Shown(time), Tone.PLAIN), (Shown("  ahead of any clock"), Tone.WARN))
    return fact(label, (Shown(age_of(moment, now)), Tone.PLAIN), (Shown(f"  {time}"), Tone.MUTED))


# Requests


TIME_WIDE = len("00:00:00  ")
"""Cells for the time of a request."""


def logged_line(request: LoggedRequest, wide: int = TIME_WIDE) -> Cell:
    """Return one request: when, in so many cells, how it ended, how long it took, what it was."""
    if request.status is not None:
        ended, tone = str(request.status), Tone.GOOD if request.status < 400 else Tone.BAD
    else:
        ended, tone = (request.error or "left").replace("_", " "), Tone.BAD if request.error else Tone.MUTED
    return (
        (Shown(f"{request.when.astimezone():%H:%M:%S}".ljust(wide)), Tone.MUTED),
        (text.line(ended), tone),
        (Shown(f" {request.ms:>{max(15 - len(ended), 1)}.0f} ms  "), Tone.MUTED),
        (Shown(f"{request.method:<6} "), Tone.KEY),
        (text.line(request.path), Tone.PLAIN),
    )


def log_lines(log: Sequence[LoggedRequest]) -> list[Cell]:
    """Return all requests, newest first."""
    return [logged_line(request) for request in reversed(log)] or [cell("No request yet.", Tone.MUTED)]
