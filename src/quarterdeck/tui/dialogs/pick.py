"""One line, or several, out of a list."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from quarterdeck.client.errors import ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.dialogs.base import ChoiceList, Dialog
from quarterdeck.tui.paint import content, lines, plain
from quarterdeck.tui.text import Shown

T = TypeVar("T")
MANY = 8
"""Lines from which the hints name the filter."""


@dataclass(frozen=True)
class Item(Generic[T]):
    """A line to pick, and what it stands for; one that stands for nothing is a heading."""

    line: Cell
    value: T | None

    def has(self, words: str) -> bool:
        """Whether what is typed into the filter is in its line."""
        return words.casefold() in "".join(span for span, _ in self.line).casefold()


@dataclass(frozen=True)
class PickKey(Generic[T]):
    """Another key than enter that answers, and what it makes of the value under the cursor."""

    key: str
    label: str
    answer: Callable[[T], T]


Reading = Callable[[], Awaitable[Sequence[Item[T]]]]


class PickDialog(Dialog[T]):
    """Pick a line; enter answers with its value, and `/` filters.

    Items that are to be asked for are read while the dialog stands; keys that come before them act once they are there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "pick", "Pick", show=False),
        Binding("j,down", "move(1)", "Down", show=False),
        Binding("k,up", "move(-1)", "Up", show=False),
        Binding("slash", "filter", "Filter", show=False),
        Binding("q", "cancel", "Cancel", show=False),
    ]

    def __init__(
        self,
        title: Shown,
        items: Sequence[Item[T]] | Reading[T],
        *,
        take: str = "take",
        keys: Sequence[PickKey[T]] = (),
        about: Callable[[T], Sequence[Cell]] | None = None,
        said: Iterable[Cell] = (),
        wide: bool = False,
    ) -> None:
        super().__init__(title, wide=wide)
        self._offered: Sequence[Item[T]] = items if isinstance(items, Sequence) else ()
        self._read = None if isinstance(items, Sequence) else items
        self._typed_ahead: list[int] = []
        """Moves that were asked for before there was a line, and 0 for an enter."""
        self._listed = self._offered
        self._take = take
        self._keys = keys
        self._about = about
        self._said = tuple(said)

    def body(self) -> Iterable[Widget]:
        """The list, what is known of the line under the cursor, and what there is to say of all."""
        yield ChoiceList()
        if self._about is not None:
            yield Static(id="about")
        if self._said:
            yield Static(lines(self._said), classes="note")

    def foot(self) -> Iterable[Widget]:
        """Where the filter is typed."""
        field = Input(id="filter", placeholder="only lines with", compact=True)
        field.display = False
        yield field

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    @property
    def _value(self) -> T | None:
        """What the line under the cursor stands for."""
        at = self._list.highlighted
        return self._listed[at].value if at is not None else None

    def first_focus(self) -> Widget | None:
        """The list; keys belong to the dialog while there is none."""
        return self._list if self._read is None else None

    def on_mount(self) -> None:
        """List the items, or read them."""
        self._show("")
        if self._read is not None:
            self._fill(self._read)

    @work
    async def _fill(self, read: Reading[T]) -> None:
        self.say(Shown("Reading…"), Tone.BUSY)
        try:
            self._offered = await read()
        except ServiceError as error:
            self.complain(text.line(f"{error.words} {error.advice}"))
            self.hint(self.HINTS)
            return
        self._read = None
        self._show("")
        if not self._offered:
            self.complain(Shown("There is nothing to pick from."))
        self.set_focus(self._list)
        for step in self._typed_ahead:
            if step == 0:
                self.action_pick()
                return
            self.action_move(step)

    def _show(self, words: str) -> None:
        self._listed = [item for item in self._offered if item.has(words) and (item.value is not None or not words)]
        self._list.set_options([Option(content(item.line), disabled=item.value is None) for item in self._listed])
        self._list.action_first()
        self._show_about()
        filtering = [("slash", "filter")] if len(self._offered) >= MANY else []
        self.hint([("enter", self._take), *((key.key, key.label) for key in self._keys), *filtering, *self.HINTS])
        self.complain(Shown("No line has that in it.") if words and not self._listed else None)

    @on(OptionList.OptionHighlighted)
    def _show_about(self) -> None:
        if self._about is not None:
            value = self._value
            self.query_one("#about", Static).update(lines(self._about(value) if value is not None else ()))

    # Keys

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """The other keys that answer, unless they are typed into the filter."""
        return isinstance(self.focused, ChoiceList) and any(each.key in (key, character) for each in self._keys)

    def on_key(self, event: events.Key) -> None:
        """Answer with one of the other keys."""
        for each in self._keys:
            if each.key in (event.key, event.character) and self._value is not None:
                event.stop()
                self.dismiss(each.answer(self._value))
                return

    def action_move(self, step: int) -> None:
        """Move in the list, also from the filter."""
        if self._read is not None:
            self._typed_ahead.append(step)
        elif step > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    def action_filter(self) -> None:
        """Type what the lines have to have in them."""
        if self._read is None:
            field = self.query_one("#filter", Input)
            field.display = True
            self.set_focus(field)

    @on(Input.Changed, "#filter")
    def _narrow(self, event: Input.Changed) -> None:
        self._show(event.value.strip())

    @on(Input.Submitted, "#filter")
    @on(OptionList.OptionSelected)
    def action_pick(self) -> None:
        """Answer with the line under the cursor."""
        if self._read is not None:
            self._typed_ahead.append(0)
        elif self._value is not None:
            self.dismiss(self._value)


class PickSeveralDialog(Dialog[tuple[str, ...]]):
    """Turn lines on and off by space; enter answers with the names of those that are on, in their order.

    `line` paints a name, on or off. With `ordered`, `J` and `K` move a line. `d` brings back what is usual: `usual`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", "On or off", show=False),
        Binding("J,shift+down,right_square_bracket", "carry(1)", "Later", show=False),
        Binding("K,shift+up,left_square_bracket", "carry(-1)", "Earlier", show=False),
        Binding("d,u", "usual", "Default", show=False),
        Binding("q", "cancel", "Cancel", show=False),
    ]

    def __init__(
        self,
        title: Shown,
        names: Sequence[str],
        chosen: Collection[str],
        line: Callable[[str, bool], Cell],
        *,
        usual: tuple[str, Collection[str]],
        ordered: bool = False,
        at_least_one: Shown | None = None,
        note: Shown | None = None,
    ) -> None:
        super().__init__(title)
        self._offered = tuple(names)
        self._names = list(names)
        self._chosen = set(chosen)
        if ordered:
            places = {name: place for place, name in enumerate(chosen)}
            self._names.sort(key=lambda name: places.get(name, len(places)))
        self._line = line
        self._usual = usual
        self._ordered = ordered
        self._at_least_one = at_least_one
        self._note = note

    def body(self) -> Iterable[Widget]:
        """One line a name."""
        choices = ChoiceList()
        choices.add_options([self._prompt(name) for name in self._names])
        yield choices
        if self._note is not None:
            yield Static(plain(self._note, Tone.MUTED), classes="note")

    def on_mount(self) -> None:
        """Begin at the first line, and say which keys there are."""
        self._list.action_first()
        moving = [("J", "down"), ("K", "up")] if self._ordered else []
        self.hint([("space", "show or not"), *moving, ("d", self._usual[0]), ("enter", "apply"), *self.HINTS])

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    def _prompt(self, name: str) -> Option:
        is_on = name in self._chosen
        box = (Shown("[x] " if is_on else "[ ] "), Tone.KEY if is_on else Tone.MUTED)
        return Option(content((box, *self._line(name, is_on))))

    def _show(self) -> None:
        for at, name in enumerate(self._names):
            self._list.replace_option_prompt_at_index(at, self._prompt(name).prompt)
        self.complain(None)

    def action_turn(self) -> None:
        """Turn the line under the cursor on or off."""
        at = self._list.highlighted
        if at is not None:
            self._chosen ^= {self._names[at]}
            self._show()

    def action_carry(self, step: int) -> None:
        """Move the line under the cursor."""
        at = self._list.highlighted
        if not self._ordered or at is None or not 0 <= at + step < len(self._names):
            return
        self._names[at], self._names[at + step] = self._names[at + step], self._names[at]
        self._show()
        self._list.highlighted = at + step

    def action_usual(self) -> None:
        """Bring back what is usual."""
        self._names = list(self._offered)
        self._chosen = set(self._usual[1])
        self._show()

    def on_option_list_option_selected(self) -> None:
        """Answer with what is on."""
        names = tuple(name for name in self._names if name in self._chosen)
        if names or self._at_least_one is None:
            self.dismiss(names)
        else:
            self.complain(self._at_least_one)
