"""All connections: which is open, how each is doing, and what to do with the one under the cursor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from quarterdeck.config.connections import Connection
from quarterdeck.tui.cells import Span, Tone
from quarterdeck.tui.checking import Verdict
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.lists.connections import ConnectionRow, about, row_line
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown

ASKING = Verdict((Shown("asking…"), Tone.BUSY))
Place = tuple[str, str | None]


class Do(Enum):
    """What a person wants with a connection."""

    OPEN = auto()
    ADD = auto()
    EDIT = auto()
    KEY = auto()
    DELETE = auto()


@dataclass(frozen=True)
class Wish:
    """What to do with which connection."""

    do: Do
    row: ConnectionRow


@dataclass(frozen=True)
class Asking:
    """How the dialog finds out what it shows."""

    rows: Callable[[], Sequence[ConnectionRow]]
    """All connections as they are at this moment."""
    key_source: Callable[[Connection], Awaitable[str]]
    check: Callable[[Connection], Awaitable[Verdict]]


class ConnectionsDialog(Dialog[Wish]):
    """Choose a connection and what to do with it; only checking is done here, since it changes nothing."""

    CSS_PATH = ["dialog.tcss", "connections.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move('down')", "Down", show=False),
        Binding("k", "move('up')", "Up", show=False),
        Binding("a", "wish('ADD')", "Add", show=False),
        Binding("e", "wish('EDIT')", "Edit", show=False),
        Binding("K", "wish('KEY')", "Key", show=False),
        Binding("t", "check", "Check", show=False),
        Binding("d", "wish('DELETE')", "Delete", show=False),
        Binding("c,q", "cancel", "Close", show=False),
    ]
    HINTS = (
        ("enter", "open"),
        ("a", "add"),
        ("e", "edit"),
        ("K", "enter key"),
        ("t", "check"),
        ("d", "delete"),
        ("esc", "close"),
    )

    def __init__(self, asking: Asking, at: Place, said: Sequence[Span] = ()) -> None:
        super().__init__(Shown("Connections"))
        self._asking = asking
        self._rows = asking.rows()
        self._at = next((number for number, row in enumerate(self._rows) if row.connection.place == at), 0)
        self._said = said
        self._keys: dict[Place, str] = {}
        self._verdicts: dict[Place, Verdict] = {}

    def body(self) -> Iterable[Widget]:
        """What there is to say, the list, and everything about the one under the cursor."""
        if self._said:
            yield Static(lines((span,) for span in self._said), id="said", classes="value")
        yield OptionList(id="connections", markup=False)
        yield Static(id="about")

    def on_mount(self) -> None:
        """Show the rows, keep their states true, and find out where the keys are."""
        self._list.add_options([Option(self._line(row)) for row in self._rows])
        self._list.highlighted = self._at
        self.set_focus(self._list)
        self.set_interval(1.0, self._refresh)
        self._find_keys()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self.call_after_refresh(self._paint)

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _row(self) -> ConnectionRow:
        return self._rows[self._list.highlighted or 0]

    def _refresh(self) -> None:
        rows = self._asking.rows()
        if rows != self._rows:
            self._rows = rows
            self._paint()

    def _paint(self) -> None:
        for number, row in enumerate(self._rows):
            self._list.replace_option_prompt_at_index(number, self._line(row))
        self._paint_about()

    def _paint_about(self) -> None:
        place = self._row.connection.place
        verdict = self._verdicts.get(place)
        facts = about(
            self._row, self._facts_width, self._keys.get(place), verdict.said if verdict is not None else None
        )
        self.query_one("#about", Static).update(lines(facts))

    def _line(self, row: ConnectionRow) -> Content:
        return row_line(row, self._facts_width, self._keys.get(row.connection.place))

    @property
    def _facts_width(self) -> int:
        return self._list.scrollable_content_region.width

    def on_option_list_option_highlighted(self) -> None:
        """Say everything about the one under the cursor."""
        self._paint_about()

    def on_option_list_option_selected(self) -> None:
        """Open the one under the cursor."""
        self.action_wish(Do.OPEN.name)

    def action_wish(self, what: str) -> None:
        """Answer with what is wanted, and with which connection."""
        self.dismiss(Wish(Do[what], self._row))

    def action_move(self, way: str) -> None:
        """Move as the arrows do."""
        if way == "down":
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    @work(group="keys")
    async def _find_keys(self) -> None:
        for row in self._rows:
            endpoint = row.connection
            self._keys[endpoint.place] = await self._asking.key_source(endpoint)
            self._paint()

    def action_check(self) -> None:
        """Ask the server under the cursor who it is and whether the key is right."""
        self._check(self._row.connection)

    @work(group="check")
    async def _check(self, connection: Connection) -> None:
        place = connection.place
        if self._verdicts.get(place) is ASKING:
            return
        for verdict in (ASKING, None):
            self._verdicts[place] = verdict or await self._asking.check(connection)
            self._refresh()
            self._paint_about()
