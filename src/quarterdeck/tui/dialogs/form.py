"""A form of a few named fields, which stays with every word in it until what it is for has been done."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Select, Static, TextArea

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.dialogs.base import Dialog, Hints, Result
from quarterdeck.tui.paint import lines, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.inputs import FormRow, LineInput, PlainArea, Toggle, abridged

YES = "yes"
ABOUT_A_FIELD = (ErrorKind.CONFLICT, ErrorKind.INVALID)
"""Refusals of a server that are about what was typed."""
Typed = Mapping[str, str]
"""What stands in each field, by name, without blanks around it; of a switch "yes" or nothing."""


class RefusedError(Exception):
    """What was typed can't be taken: one sentence, and the field that it is about, if it is about one."""

    def __init__(self, words: str, field: str = "", *, empty: bool = False) -> None:
        super().__init__(words)
        self.words = words
        self.field = field
        self.empty = empty
        """Whether what stands in the field is taken away."""


@dataclass(frozen=True)
class Field:
    """A field by its name; `check` says what is wrong, `only_if` names another field and what that has to hold."""

    name: str
    label: str
    value: str = ""
    hint: str = ""
    check: Callable[[str], str | None] | None = None
    only_if: tuple[str, str] | None = None


@dataclass(frozen=True)
class Line(Field):
    """A line of text; a secret one is masked."""

    placeholder: str = ""
    secret: bool = False


@dataclass(frozen=True)
class Lines(Field):
    """Several lines of text."""


@dataclass(frozen=True)
class OneOf(Field):
    """One of a few values, each with its words."""

    values: Sequence[tuple[Shown | Content, str]] = ()


@dataclass(frozen=True)
class Switch(Field):
    """Yes or no; the label stands behind its box."""


class FieldRow(FormRow):
    """A field on the screen."""

    def __init__(self, field: Field) -> None:
        label = "" if isinstance(field, Switch) else field.label
        super().__init__(plain(Shown(label), Tone.MUTED), _control(field), hint=field.hint)
        self.id = f"field-{field.name}"
        self.field = field

    @property
    def typed(self) -> str:
        """What stands in it; a line that was not touched holds the very value it began with."""
        match self.control:
            case LineInput(value=value):
                return self.field.value if value == abridged(self.field.value) else value.strip()
            case TextArea(text=value):
                return value.strip()
            case Select(value=value):
                return str(value)
            case Toggle(on=is_on):
                return YES if is_on else ""
        raise TypeError(self.control)

    @property
    def problem(self) -> str:
        """What is wrong with it, if it is asked for."""
        check = self.field.check
        return (check(self.typed) or "") if check is not None and self.display else ""


def _control(field: Field) -> Widget:
    match field:
        case Line():
            return LineInput(abridged(field.value), placeholder=field.placeholder, password=field.secret)
        case Lines():
            area = PlainArea(text.block(field.value))
            area.soft_wrap = True
            return area
        case OneOf():
            return Select(field.values, value=field.value, allow_blank=False, compact=True)
        case Switch():
            return Toggle(Shown(field.label), on=bool(field.value))
    raise TypeError(field)


class FormDialog(Dialog[Result]):
    """Ask for the values of fields and do what they are for; the answer is what `send` gives.

    What `send` raises is said where it belongs, and every word stays: RefusedError, or ServiceError, which is about the
    field `blamed` where a server finds fault with what was typed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "send", "Send", show=False, priority=True)]

    def __init__(
        self,
        title: Shown,
        fields: Sequence[Field],
        send: Callable[[Typed], Awaitable[Result]],
        *,
        said: Iterable[Cell] = (),
        verb: str = "save",
        sending: str = "Waiting for the server…",
        blamed: str = "",
    ) -> None:
        super().__init__(title)
        self._rows = [FieldRow(field) for field in fields]
        self._do = send
        self._said = tuple(said)
        self._sending_words = Shown(sending)
        self._blamed = blamed
        self._is_sending = False
        one_line = all(isinstance(field, Line | Switch) for field in fields)
        next_field: Hints = (("tab", "next field"),) if len(self._rows) > 1 else ()
        self._hints: Hints = (("enter" if one_line else "ctrl+s", verb), *next_field, *self.HINTS)

    def body(self) -> Iterable[Widget]:
        """What to know, and the fields."""
        if self._said:
            yield Static(lines(self._said), classes="value")
        yield from self._rows

    def on_mount(self) -> None:
        """Say which keys there are, and show what is asked for now."""
        self.hint(self._hints)
        self._show_asked()

    @property
    def typed(self) -> Typed:
        """What stands in the fields."""
        return {row.field.name: row.typed for row in self._rows}

    @on(Select.Changed)
    def _show_asked(self) -> None:
        """Show the fields whose condition holds."""
        typed = self.typed
        for row in self._rows:
            if row.field.only_if is not None:
                name, value = row.field.only_if
                row.display = typed[name] == value

    @on(Input.Submitted)
    def action_send(self) -> None:
        """Do what the form is for, if nothing is wrong in it."""
        if self._is_sending:
            return
        self.complain(None)
        wrong = [row for row in self._rows if row.problem]
        for row in wrong:
            row.say(row.problem)
        if wrong:
            self.set_focus(wrong[0].control)
        else:
            self._send(self.typed)

    def action_cancel(self) -> None:
        """Leave, but not while something is on its way."""
        if self._is_sending:
            self.say(Shown("The server has not answered yet; a moment."), Tone.WARN)
        else:
            self.dismiss(None)

    @work(exclusive=True, group="send")
    async def _send(self, typed: Typed) -> None:
        self._is_sending = True
        self.say(self._sending_words, Tone.BUSY)
        try:
            done = await self._do(typed)
        except RefusedError as error:
            self._refuse(error.words, error.field, empty=error.empty)
        except ServiceError as error:
            self._refuse_as(error)
        else:
            self.dismiss(done)
        finally:
            self._is_sending = False

    def _refuse_as(self, error: ServiceError) -> None:
        if error.kind in ABOUT_A_FIELD and self._blamed:
            told = error.problems[0].message if error.problems else error.words
            self._refuse(told[:1].upper() + told[1:], self._blamed)
        else:
            unsure = "Unknown whether it was done: " if error.outcome is Outcome.UNKNOWN else ""
            self._refuse(f"{unsure}{error.words} {error.advice}")

    def _refuse(self, words: str, field: str = "", *, empty: bool = False) -> None:
        self.complain(None if field else text.line(words))
        if field:
            row = next(row for row in self._rows if row.field.name == field)
            if empty and isinstance(row.control, Input):
                with self.prevent(Input.Changed):
                    row.control.clear()
            row.say(words)
            self.set_focus(row.control)

    @on(LineInput.Noticed)
    def _say_notice(self, event: LineInput.Noticed) -> None:
        event.stop()
        self.say(event.words, Tone.WARN)
