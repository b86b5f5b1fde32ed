"""Dialogs to pick one line, or several, from a list."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual import events, on, work
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from quarterdeck.client.errors import ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.columns.details import LABEL_WIDE
from quarterdeck.tui.commands import Command, bindings, shown_key
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Hints
from quarterdeck.tui.widgets.choices import ChoiceList, Hanging
from quarterdeck.tui.widgets.inputs import LineInput
from quarterdeck.tui.widgets.lines import Lines

T = TypeVar("T")
MANY = 8
"""Number of lines from which the hints show the filter."""
RENEWED_EVERY = 0.5
"""Seconds between two looks at whether other items can be picked by now."""
KEY_WIDTH = 6
LABEL_WIDTH = 17
Offer = tuple[Command, str | None]
"""A command, and why it cannot be applied now."""


@dataclass(frozen=True)
class Item(Generic[T]):
    """A line to pick and its value; a line without a value is a heading."""

    line: Cell
    value: T | None
    key: str = ""
    """A key that picks this line at once."""
    refusal: str | None = None
    """Why it cannot be picked now."""

    @property
    def works(self) -> bool:
        """Whether it can be picked."""
        return self.value is not None and self.refusal is None

    def has(self, words: str, *, in_name: bool = False) -> bool:
        """Whether its line contains the text typed into the filter, or what precedes the last part of it does."""
        return words.casefold() in "".join(span for span, _ in self.line[: -1 if in_name else None]).casefold()


def choice(answer: T, key: str, label: str, said: str, *, works: bool = True) -> Item[T]:
    """Return a line with a key and its meaning; if it does not `work`, `said` is the reason."""
    tones = (Tone.KEY, Tone.STRONG) if works else (Tone.MUTED, Tone.MUTED)
    named = (
        (Shown(f"{shown_key(key):<{KEY_WIDTH}}"), tones[0]),
        (Shown(f"{text.line(label):<{LABEL_WIDTH}} "), tones[1]),
    )
    return Item((*named, (text.line(said), Tone.MUTED)), answer, key, None if works else said)


ReadItems = Callable[[], Awaitable[Sequence[Item[T]]]]


class PickDialog(Dialog[T]):
    """Pick a line: enter answers with its value, a line's own key with that line's value, and `/` filters.

    If the items must be read first, this happens while the dialog is open; keys that come earlier act once they are
    there.
    """

    BINDINGS = bindings({"enter": "pick", "slash": "filter", "q": "cancel"})
    OTHER_HINTS: ClassVar[Hints] = ()
    """Keys that a subclass adds."""

    def __init__(
        self,
        title: str,
        items: Sequence[Item[T]] | ReadItems[T],
        *,
        said: Iterable[Cell] = (),
        take: str = "take",
        leave: str = "cancel",
        about: Callable[[T], Iterable[Cell]] | None = None,
        wide: bool = False,
        renew: Callable[[], Sequence[Item[T]]] | None = None,
    ) -> None:
        """Create the dialog; `renew` returns the items as they are now."""
        super().__init__(title, said, wide=wide)
        self._now = renew
        self._offered: Sequence[Item[T]] = items if isinstance(items, Sequence) else ()
        self._wraps = any(item.key for item in self._offered)  # without keys, lines are those of a table
        self.set_class(self._wraps, "-wraps")
        self._read = None if isinstance(items, Sequence) else items
        self._typed_ahead: list[int] = []
        """Moves made before there was a line, and 0 for enter."""
        self._listed = self._offered
        self._take = take
        self._leave = leave
        self._about = about
        self._about_lines = Lines(hang=LABEL_WIDE, id="about")
        self._list = ChoiceList(click="choose" if about is None else "move")
        self._filter = LineInput(id="filter", placeholder="only lines with")

    def body(self) -> Iterable[Widget]:
        """The introduction, the list, and details of the line under the cursor."""
        yield from super().body()
        yield self._list
        if self._about is not None:
            yield self._about_lines

    def foot(self) -> Iterable[Widget]:
        """The field for the filter."""
        yield self._filter

    @property
    def value(self) -> T | None:
        """The value of the line under the cursor."""
        at = self._list.highlighted
        return self._listed[at].value if at is not None else None

    def first_focus(self) -> Widget | None:
        """The list; the dialog itself while there is none."""
        return self._list if self._read is None else None

    def on_mount(self) -> None:
        """List the items, or read them."""
        self._show()
        if self._read is not None:
            self._fill(self._read)
        if self._now is not None:
            self.set_interval(RENEWED_EVERY, self.renew)

    def renew(self) -> None:
        """Show what can be picked by now."""
        if self._now is not None and (items := self._now()) != self._offered:
            self._offered = items
            self._show()
        else:
            self._show_about()

    @work
    async def _fill(self, read: ReadItems[T]) -> None:
        self.say("Reading…", Tone.BUSY)
        try:
            self._offered = await read()
        except ServiceError as error:
            self.complain(error.sentences)
            self.hint(self.HINTS)
            return
        self._read = None
        self._show()
        self.complain(None if self._offered else "There is nothing to pick from.")
        self.set_focus(self._list)
        for step in self._typed_ahead:
            if step == 0:
                self.action_pick()
                return
            self.action_move(step)

    def _show(self) -> None:
        """Show the lines that the filter lets through; the cursor stays on its line, or else where that was."""
        words, before, at = self._filter.value.strip(), self.value, self._list.highlighted
        self._listed = [item for item in self._offered if item.has(words) and (item.value is not None or not words)]
        if self._wraps:  # what is called so comes before what is only explained with it
            self._listed.sort(key=lambda item: not item.has(words, in_name=True))
        with self.prevent(OptionList.OptionHighlighted):  # nobody moved it
            self._list.set_options([Option(self.prompt(item), disabled=not item.works) for item in self._listed])
            values = [item.value for item in self._listed]
            self._list.highlighted = values.index(before) if before is not None and before in values else at
            if at is None:
                self._list.action_first()
        self._show_about()
        filtering = [("/", "filter")] if len(self._offered) >= MANY else []
        taking = [("enter", self._take)] if any(item.works for item in self._listed) else []
        self.hint([*taking, *self.OTHER_HINTS, *filtering, ("esc", self._leave)])

    def prompt(self, item: Item[T]) -> Content | Hanging:
        """Return the line of an item as it is painted; a heading is wrapped."""
        if self._wraps:
            return Hanging(item.line[:-1], item.line[-1:])
        return content(item.line) if item.value is not None else Hanging((), item.line)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        self.complain(None)  # what was said is about another line
        self._show_about()

    def _show_about(self) -> None:
        if self._about is not None:
            value = self.value
            self._about_lines.display = value is not None
            self._about_lines.say(tuple(self._about(value)) if value is not None else ())

    # Keys

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """The keys of lines take precedence over other bindings."""
        return isinstance(self.focused, ChoiceList) and self._named(key, character) is not None

    def _named(self, key: str, character: str | None) -> Item[T] | None:
        """Return the listed line with that key; enter is never such a key."""
        return next((each for each in self._listed if each.key in (key, character) and key != "enter"), None)

    def on_key(self, event: events.Key) -> None:
        """Answer with the line of a key, or say why it cannot be picked."""
        self.renew()
        item = self._named(event.key, event.character)
        if item is None or not isinstance(self.focused, ChoiceList):
            return
        event.stop()
        event.prevent_default()  # otherwise it would be said to do nothing
        if item.works:
            self.dismiss(item.value)
        else:
            self.complain(item.refusal)

    def action_move(self, step: int) -> None:
        """Move in the list, even from the filter."""
        if self._read is not None:
            self._typed_ahead.append(step)
        else:
            self._list.action_step(step)

    def action_filter(self) -> None:
        """Type what the lines must contain."""
        if self._read is None:
            self._filter.display = True
            self.set_focus(self._filter)

    @on(Input.Changed, "#filter")
    def _narrow(self) -> None:
        self._list.highlighted = None
        self._show()
        self.complain(None if self._listed else "No line has that in it.")

    @on(Input.Submitted, "#filter")
    @on(OptionList.OptionSelected)
    def action_pick(self) -> None:
        """Answer with the line under the cursor."""
        if self._read is not None:
            self._typed_ahead.append(0)
        elif self.value is not None:
            self.take(self.value)

    def take(self, value: T) -> None:
        """Answer with a value."""
        self.dismiss(value)


def menu(title: str, offers: Callable[[], Iterable[Offer]]) -> PickDialog[str]:
    """Return the menu of commands for a row, each with its key or else a number; its answer is a command's name."""

    def items() -> list[Item[str]]:
        numbers = iter("123456789")
        return [
            choice(
                command.name,
                command.keys.split(",", maxsplit=1)[0] or next(numbers, ""),
                command.label,
                reason or command.help,
                works=reason is None,
            )
            for command, reason in offers()
        ]

    return PickDialog(title, items(), take="do it", leave="close", renew=items)


class PickSeveralDialog(Dialog[tuple[str, ...]]):
    """Select lines with space; enter answers with the names of the selected ones, in their order.

    `line` returns the cell of a name. With `ordered`, `J` and `K` move a line. `d` restores the default: all of them.
    """

    BINDINGS = bindings(
        {
            "space": "turn",
            "J,shift+down,right_square_bracket": "carry(1)",
            "K,shift+up,left_square_bracket": "carry(-1)",
            "d,u": "usual",
            "q": "cancel",
        }
    )

    def __init__(
        self,
        title: str,
        names: Sequence[str],
        chosen: Collection[str],
        line: Callable[[str, bool], Cell],
        *,
        usual: str,
        ordered: bool = False,
        at_least_one: str,
        note: str | None = None,
    ) -> None:
        super().__init__(title)
        self._offered = tuple(names)
        self._names = [*chosen, *(name for name in names if name not in chosen)] if ordered else list(names)
        self._chosen = set(chosen)
        self._line = line
        self._usual = usual
        self._ordered = ordered
        self._at_least_one = at_least_one
        self._note = note
        self._list = ChoiceList(click="turn")

    def body(self) -> Iterable[Widget]:
        """One line per name."""
        self._list.add_options([self._prompt(name) for name in self._names])
        yield self._list
        if self._note is not None:
            yield Static(plain(self._note, Tone.MUTED), classes="note")

    def on_mount(self) -> None:
        """Start at the first line, and show the key hints."""
        self._list.action_first()
        moving = [("J", "down"), ("K", "up")] if self._ordered else []
        self.hint([("space", "show or not"), *moving, ("d", self._usual), ("enter", "apply"), *self.HINTS])

    def _prompt(self, name: str) -> Content:
        is_on = name in self._chosen
        box = (Shown("[x] " if is_on else "[ ] "), Tone.KEY if is_on else Tone.MUTED)
        return content((box, *self._line(name, is_on)))

    def _show(self) -> None:
        for at, name in enumerate(self._names):
            self._list.replace_option_prompt_at_index(at, self._prompt(name))
        self.complain(None)

    def action_turn(self) -> None:
        """Select the line under the cursor, or deselect it."""
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
        """Restore the default."""
        self._names = list(self._offered)
        self._chosen = set(self._offered)
        self._show()

    def on_option_list_option_selected(self) -> None:
        """Answer with the selected names."""
        names = tuple(name for name in self._names if name in self._chosen)
        if names:
            self.dismiss(names)
        else:
            self.complain(self._at_least_one)
