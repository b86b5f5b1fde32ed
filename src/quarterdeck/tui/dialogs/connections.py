"""All connections: which is open, how each is doing, and what to do with the one under the cursor."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static

from quarterdeck.config.connections import Connection
from quarterdeck.tui.cells import Span, Tone
from quarterdeck.tui.checking import Verdict
from quarterdeck.tui.dialogs.base import ChoiceList, Dialog
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

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "wish('ADD')", "Add", show=False),
        Binding("e", "wish('EDIT')", "Edit", show=False),
        Binding("K", "wish('KEY')", "Key", show=False),
        Binding("t", "check", "Check", show=False),
        Binding("d,D", "wish('DELETE')", "Delete", show=False),
        Binding("c,q", "cancel", "Close", show=False),
    ]
    HINTS = (
        ("enter", "open"),
        ("a", "add"),
        ("e", "edit"),
        ("K", "enter key"),
        ("t", "check"),
        ("D", "delete"),
        ("escape", "close"),
    )

    def __init__(self, asking: Asking, at: Place, said: Sequence[Span] = ()) -> None:
        super().__init__(Shown("Connections"), wide=True)
        self._asking = asking
        self._rows = asking.rows()
        self._at = next((number for number, row in enumerate(self._rows) if row.connection.place == at), 0)
        self._said = said
        self._keys: dict[Place, str] = {}
        self._verdicts: dict[Place, Verdict] = {}

    def body(self) -> Iterable[Widget]:
        """What there is to say, the list, and everything about the one under the cursor."""
        if self._said:
            yield Static(lines((span,) for span in self._said), classes="value")
        yield ChoiceList()
        yield Static(id="about")

    def on_mount(self) -> None:
        """Show the rows, keep their states true, and find out where the keys are."""
        self._list.add_options([self._line(row) for row in self._rows])
        self._list.highlighted = self._at
        self.set_interval(1.0, self._renew)
        self._find_keys()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self.call_after_refresh(self._show)

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    @property
    def _row(self) -> ConnectionRow:
        return self._rows[self._list.highlighted or 0]

    def _renew(self) -> None:
        rows = self._asking.rows()
        if rows != self._rows:
            self._rows = rows
            self._show()

    def _show(self) -> None:
        for number, row in enumerate(self._rows):
            self._list.replace_option_prompt_at_index(number, self._line(row))
        self._show_about()

    def _line(self, row: ConnectionRow) -> Content:
        return row_line(row, self._list.scrollable_content_region.width, self._keys.get(row.connection.place))

    @on(OptionList.OptionHighlighted)
    def _show_about(self) -> None:
        place, width = self._row.connection.place, self._list.scrollable_content_region.width
        verdict = self._verdicts.get(place)
        facts = about(self._row, width, self._keys.get(place), verdict.said if verdict is not None else None)
        self.query_one("#about", Static).update(lines(facts))

    def on_option_list_option_selected(self) -> None:
        """Open the one under the cursor."""
        self.action_wish(Do.OPEN.name)

    def action_wish(self, what: str) -> None:
        """Answer with what is wanted, and with which connection."""
        self.dismiss(Wish(Do[what], self._row))

    @work(group="keys")
    async def _find_keys(self) -> None:
        for row in self._rows:
            self._keys[row.connection.place] = await self._asking.key_source(row.connection)
            self._show()

    @work(group="check")
    async def action_check(self) -> None:
        """Ask the server under the cursor who it is and whether the key is right."""
        connection = self._row.connection
        if self._verdicts.get(connection.place) is ASKING:
            return
        self._verdicts[connection.place] = ASKING
        self._show()
        self._verdicts[connection.place] = await self._asking.check(connection)
        self._show()
