"""Dialogs to pick one line, or several, from a list."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

from textual import events, on, work
from textual.content import Content
from textual.events import DescendantFocus
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from quarterdeck.client.errors import ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import Command, bindings, shown_key
from quarterdeck.tui.dialogs.base import Dialog, Now, now
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Hints
from quarterdeck.tui.widgets.choices import ChoiceList, Hanging
from quarterdeck.tui.widgets.inputs import LineInput
from quarterdeck.tui.widgets.lines import Lines

T = TypeVar("T")
MANY = 8
"""Number of lines from which the hints show the filter."""
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
        """Whether its line contains all words typed into the filter, or what precedes the last part of it does."""
        line = "".join(span for span, _ in self.line[: -1 if in_name else None]).casefold()
        return all(word in line for word in words.casefold().split())


def choice(answer: T, key: str, label: str, said: str, *, works: bool = True) -> Item[T]:
    """Return a line with a key and its meaning; if it does not `work`, `said` is the reason."""
    tones = (Tone.KEY, Tone.STRONG) if works else (Tone.MUTED, Tone.MUTED)
    named = (
        (Shown(f"{shown_key(key):<{KEY_WIDTH}}"), tones[0]),
        (Shown(f"{text.line(label):<{LABEL_WIDTH}} "), tones[1]),
    )
    return Item((*named, (text.line(said), Tone.MUTED)), answer, key, None if works else said)


class PickDialog(Dialog[T]):
    """Pick a line: enter answers with its value, a line's own key with that line's value, and `/` filters.

    If the items must be read first, this happens while the dialog is open; keys that come earlier act once they are
    there.
    """

    BINDINGS = bindings({"enter": "pick", "slash": "filter", "q": "cancel"})

    def __init__(
        self,
        title: Now[str],
        items: Now[Sequence[Item[T]]],
        *,
        read: Callable[[], Awaitable[Sequence[Item[T]]]] | None = None,
        said: Sequence[Cell] = (),
        take: str = "take",
        leave: str = "cancel",
        about: Callable[[T], Iterable[Cell]] | None = None,
        wide: bool = False,
        hints: Hints = (),
        filtered: bool = False,
        gone: str = "",
    ) -> None:
        """Create the dialog; `hints` are keys that a subclass adds; if it is `filtered`, it begins in the filter.

        `gone` is said when the line under the cursor went.
        """
        super().__init__(title, said, wide=wide)
        self._choices = items
        self._offered: Sequence[Item[T]] = ()
        self._read = read
        self._typed_ahead: list[int] = []
        """Moves made before there was a line, and 0 for enter."""
        self._listed: Sequence[Item[T]] = ()
        self._take = take
        self._leave = leave
        self._own_hints = hints
        self._gone = gone
        self._about = about
        self._about_lines = Lines(id="about")
        self._list = ChoiceList(click="choose" if about is None else "move")
        self._filter = LineInput(id="filter", placeholder="only lines with")
        self._filter.display = filtered

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
        """The filter or the list; the dialog itself while there is none."""
        shown = self._filter if self._filter.display else self._list
        return shown if self._read is None else None

    def on_mount(self) -> None:
        """Read the items, if they must be."""
        if self._read is not None:
            self._fill(self._read)

    def renew(self) -> None:
        """Show what can be picked by now."""
        super().renew()
        items, before = now(self._choices), self.value
        if items != self._offered:
            self._offered = items
            self._show()
            if self._gone and before not in [None, *(item.value for item in items)]:
                self.complain(self._gone)
        else:
            self._show_about()

    @work
    async def _fill(self, read: Callable[[], Awaitable[Sequence[Item[T]]]]) -> None:
        self.say("Reading…", Tone.BUSY)
        try:
            self._choices = await read()
        except ServiceError as error:
            self.complain(error.sentences)
            self.hint(self.HINTS)
            return
        self._read = None
        self.renew()
        self.complain(None if self._offered else "There is nothing to pick from.")
        self.set_focus(self._list)
        for step in self._typed_ahead:
            if step == 0:
                self.action_pick()
                return
            self.action_move(step)

    def _show(self) -> None:
        """Show the lines that the filter lets through, without a hop: the cursor stays on its line, or at its place."""
        words, before, at = self._filter.value.strip(), self.value, self._list.highlighted
        self._listed = [item for item in self._offered if item.has(words) and (item.value is not None or not words)]
        self._wraps = any(item.key for item in self._offered)  # without keys, lines are those of a table
        self.set_class(self._wraps, "-wraps")
        if self._wraps:  # what is called so comes before what is only explained with it
            self._listed.sort(key=lambda item: not item.has(words, in_name=True))
        top = self._list.scroll_offset.y
        with self.prevent(OptionList.OptionHighlighted):  # nobody moved it
            self._list.set_options([Option(self.prompt(item), disabled=not item.works) for item in self._listed])
            values = [item.value for item in self._listed]
            self._list.highlighted = values.index(before) if before is not None and before in values else at
            if self.value is None:
                self._list.action_first()
            else:
                self._list.scroll_to(y=top, animate=False, immediate=True)
                self._list.scroll_to_highlight()
        self._show_about()
        self._name_keys()

    @on(DescendantFocus)
    def _name_keys(self) -> None:
        """Name the keys: those of a line belong to the list, and in the filter they are letters."""
        own = [("tab", "list")] if self._own_hints and self.focused is self._filter else self._own_hints
        filtering = [("/", "filter")] if len(self._offered) >= MANY and not self._filter.display else []
        taking = [("enter", self._take)] if any(item.works for item in self._listed) else []
        self.hint([*taking, *own, *filtering, ("esc", self._leave)])

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

    def action_page(self, pages: float) -> None:
        """Move in the list by pages, even from the filter."""
        self.call_next(self._list.action_page, "down" if pages > 0 else "up")

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
        elif (value := self.value) is not None:
            self.renew()
            if self.value == value:
                self.take(value)

    def take(self, value: T) -> None:
        """Answer with a value."""
        self.dismiss(value)


def menu(title: str, offers: Callable[[], Iterable[Offer]], *, filtered: bool = False) -> PickDialog[str]:
    """Return a menu of commands, whose answer is a command's name; those without a key get a number as one.

    If it is `filtered`, it begins in the filter, and there are no numbers.
    """

    def items() -> list[Item[str]]:
        numbers = iter("" if filtered else "123456789")
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

    return PickDialog(title, items, take="do it", leave="close", filtered=filtered)


class PickSeveralDialog(PickDialog[tuple[str, ...]]):
    """Select lines with space; enter answers with the names of the selected ones, in their order.

    `line` returns the cell of a name. With `ordered`, `J` and `K` move a line. `d` restores the default: all of them.
    """

    BINDINGS = bindings(
        {
            "space": "turn",
            "J,shift+down,right_square_bracket": "carry(1)",
            "K,shift+up,left_square_bracket": "carry(-1)",
            "d,u": "usual",
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
        note: str = "",
    ) -> None:
        moving: Hints = (("J", "down"), ("K", "up")) if ordered else ()
        hints = (("space", "show or not"), *moving, ("d", usual))
        said = (cell(note, Tone.MUTED),)
        super().__init__(title, self._lines, take="apply", about=(lambda _: said) if note else None, hints=hints)
        self._list = ChoiceList(click="turn")
        self._all = tuple(names)
        self._names = list(chosen) if ordered else list(names)
        for before, name in pairwise(("", *names)):
            if name not in self._names:
                self._names.insert(self._names.index(before) + 1 if before else 0, name)
        self._chosen = set(chosen)
        self._line = line
        self._ordered = ordered
        self._at_least_one = at_least_one

    def _lines(self) -> Sequence[Item[tuple[str, ...]]]:
        """Return a line for each name, whose value is that name alone."""
        boxes = {True: (Shown("[x] "), Tone.KEY), False: (Shown("[ ] "), Tone.MUTED)}
        on = {name: name in self._chosen for name in self._names}
        return [Item((boxes[on[name]], *self._line(name, on[name])), (name,)) for name in self._names]

    def action_turn(self) -> None:
        """Select the line under the cursor, or deselect it."""
        self._chosen ^= {*(self.value or ())}
        self.renew()
        self.complain(None)

    def action_carry(self, step: int) -> None:
        """Move the line under the cursor."""
        if self._ordered and self.value is not None:
            at = self._names.index(self.value[0])
            self._names.insert(max(at + step, 0), self._names.pop(at))
            self.renew()

    def action_usual(self) -> None:
        """Restore the default."""
        self._names = list(self._all)
        self._chosen = set(self._all)
        self.renew()
        self.complain(None)

    def take(self, value: tuple[str, ...]) -> None:
        """Answer with the selected names, whatever is under the cursor."""
        if chosen := tuple(name for name in self._names if name in self._chosen):
            self.dismiss(chosen)
        else:
            self.complain(self._at_least_one)
