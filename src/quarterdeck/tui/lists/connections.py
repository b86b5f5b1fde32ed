"""What the list of connections says of each: a line, and everything about the one under the cursor."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from textual.content import Content

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.network import sends_in_clear
from quarterdeck.config.connections import Connection
from quarterdeck.fleet.health import HealthState
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Span, Tone, cell
from quarterdeck.tui.colours import mark
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown

NAME, STATE, READ_ONLY, KEY = 18, 12, 10, 32
"""Cells of the columns; the address gets what is left."""
WITH_KEY = 90
"""Cells from which a line also says where the key is from."""
NOT_OPENED = cell(Shown("not opened"), Tone.MUTED)
UNTOLD = Shown("")
FACT = 11
"""Cells of the names of facts."""
PLAIN_HTTP = Shown("http:// to another machine: the key can be read on the way")
NOT_KEPT = Shown("no: it was given by its address; e gives it a name")
_HEALTH = {
    HealthState.LOADING: cell(Shown("opening…"), Tone.BUSY),
    HealthState.ONLINE: cell(Shown("live"), Tone.GOOD),
    HealthState.DEGRADED: cell(Shown("stale"), Tone.WARN),
    HealthState.OFFLINE: cell(Shown("no answer"), Tone.BAD),
    HealthState.REFUSED: cell(Shown("key refused"), Tone.BAD),
}
_WORST = (
    HealthState.REFUSED,
    HealthState.OFFLINE,
    HealthState.DEGRADED,
    HealthState.ONLINE,
)


@dataclass(frozen=True)
class ConnectionRow:
    """A connection and what is known of it now."""

    connection: Connection
    kept: bool
    """Whether it is in the file, and can be edited there."""
    read_only: bool = False
    """Whether it is opened so, by its own word or by that of the command line."""
    state: Cell = NOT_OPENED
    release: Shown = UNTOLD
    """The release it was last seen with."""

    @property
    def name(self) -> Shown:
        """What it is called."""
        return text.line(self.connection.name)


def open_state(session: Session | None, trouble: ServiceError | None) -> Cell:
    """How the open connection is doing, in a word or two."""
    if session is None:
        return cell(Shown("cannot open"), Tone.BAD) if trouble is not None else _HEALTH[HealthState.LOADING]
    if session.server.key_refused:
        return _HEALTH[HealthState.REFUSED]
    if session.server.trouble is not None:
        return _HEALTH[HealthState.OFFLINE]
    states = {session.sandboxes.health.state, session.conversations.health.state}
    return _HEALTH[next((state for state in _WORST if state in states), HealthState.LOADING)]


def row_line(row: ConnectionRow, width: int, key_words: str | None = None) -> Content:
    """One line of the list, in columns that fit the width."""
    endpoint = row.connection
    wide = width >= WITH_KEY
    address = max(8, width - 2 - NAME - STATE - READ_ONLY - (KEY if wide else 0))
    key = plain(text.line(key_words) if key_words is not None else Shown("…"), Tone.MUTED)
    return Content("").join(
        (
            mark(endpoint.colour),
            _column(plain(row.name, Tone.STRONG), NAME),
            _column(plain(_address(row), Tone.PLAIN), address),
            _column(content(row.state), STATE),
            _column(plain(Shown("read-only" if row.read_only else ""), Tone.WARN), READ_ONLY),
            *((_column(key, KEY),) if wide else ()),
        )
    )


def about(row: ConnectionRow, width: int, key_words: str | None, checked: Span | None) -> list[Cell]:
    """Everything about one connection, in lines that fit the width; `checked` is what a check of it found."""
    endpoint = row.connection
    key = text.line(key_words) if key_words is not None else Shown("looking for it…")
    sent_as = Shown("Authorization: Bearer" if endpoint.header == "bearer" else "X-Session-API-Key")
    facts: list[tuple[str, bool, Shown, Tone]] = [
        ("key", True, key, Tone.PLAIN),
        ("sent as", not endpoint.embedded, sent_as, Tone.PLAIN),
        ("read-only", row.read_only, Shown("nothing is changed on the server"), Tone.PLAIN),
        ("CA file", endpoint.ca_file is not None, text.line(endpoint.ca_file or ""), Tone.PLAIN),
        ("release", bool(row.release), row.release, Tone.PLAIN),
        ("careful", endpoint.url is not None and sends_in_clear(endpoint.url), PLAIN_HTTP, Tone.WARN),
        ("kept", not (row.kept or endpoint.embedded), NOT_KEPT, Tone.WARN),
    ]
    if checked is not None:
        facts.append(("check", True, *checked))
    return [line for name, holds, value, tone in facts if holds for line in _fact(name, width, value, tone)]


def _address(row: ConnectionRow) -> Shown:
    return text.line(row.connection.url or "inside this deck")


def _fact(name: str, width: int, value: Shown, tone: Tone) -> list[Cell]:
    """A name and a value, which goes on below itself where it is long."""
    pieces = wrap(value, max(20, width - FACT)) or [""]
    names = (name, *("" for _ in pieces[1:]))
    labelled = zip((Shown(f"{each:<{FACT}}") for each in names), map(Shown, pieces), strict=True)
    return [((label, Tone.MUTED), (piece, tone)) for label, piece in labelled]


def _column(words: Content, width: int) -> Content:
    """Words cut or padded to a column, with a blank after them."""
    cut = words.truncate(width - 1, ellipsis=True)
    return cut + " " * (width - cut.cell_length)
