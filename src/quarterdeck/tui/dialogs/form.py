"""Forms with named fields; a form stays open with everything typed until its request has succeeded."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.widget import Widget
from textual.widgets import Input, Select, TextArea

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.config.files import ConfigError
from quarterdeck.settings.fields import Problem
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.dialogs.base import Dialog, Now, Result
from quarterdeck.tui.paint import plain
from quarterdeck.tui.widgets.bars import Hints
from quarterdeck.tui.widgets.inputs import ChoiceLine, FormControl, FormRow, LineInput, PlainArea

ABOUT_A_FIELD = (ErrorKind.CONFLICT, ErrorKind.INVALID)
"""Errors of a server that concern what was typed."""
Typed = Mapping[str, Any]
"""The values of the fields by name: text, or the selected choice."""
Check = Callable[[Any], str | None]


@dataclass(eq=False)
class RefusedError(Exception):
    """The typed values were refused: one sentence, and the field that it concerns, if any."""

    words: str
    field: str = ""
    empty: bool = False
    """Whether the field is emptied."""


class InputField(FormRow):
    """A named field: a line of text, or another control.

    `check` returns what is wrong, or raises ConfigError. `only_if` is another field and the value it must have for this
    field to be shown.
    """

    def __init__(
        self,
        name: str,
        label: str,
        value: str | None = None,
        placeholder: str = "",
        check: Check | None = None,
        *,
        hint: str = "",
        only_if: tuple[str, str] | None = None,
        secret: bool = False,
        control: FormControl | None = None,
    ) -> None:
        control = control or LineInput(value or "", placeholder=placeholder, password=secret)
        super().__init__(plain(label, Tone.MUTED), control, hint=hint)
        self.key = name
        self.only_if = only_if
        self._check = check

    @property
    def problem(self) -> str:
        """What is wrong with it, empty if nothing."""
        try:
            return (self._check(self.value) or "") if self._check is not None else ""
        except ConfigError as error:
            return error.sentence


class FieldsDialog(Dialog[Result]):
    """Asks for the values of fields; errors are shown at the fields and must be corrected first."""

    BINDINGS = bindings({"ctrl+s": "accept"}, priority=True)

    def __init__(self, title: str, fields: Iterable[InputField], *, said: Now[Sequence[Cell]] = (), verb: str) -> None:
        super().__init__(title, said)
        self.fields = {field.key: field for field in fields}
        self._may_go: list[Mapping[str, Any]] = []
        """Values that may be discarded without a warning."""
        self._said_of: Mapping[str, Any] | None = None
        """The values that the sentence below the fields is about; None if it is about no values."""
        controls = [field.control for field in self.fields.values()]
        one_line = all(isinstance(control, LineInput) for control in controls)
        self._has_area = any(isinstance(control, PlainArea) for control in controls)
        next_field: Hints = (("tab", "next field"),) if len(self.fields) > 1 else ()
        self._hints: Hints = (("enter" if one_line else "^s", verb), *next_field, *self.HINTS)

    def body(self) -> Iterable[Widget]:
        """The introduction and the fields."""
        yield from super().body()
        yield from self.fields.values()

    def on_mount(self) -> None:
        """Show the key hints and the fields whose condition holds."""
        self.hint(self._hints)
        self.allow_closing()
        self._show_asked()

    @property
    def typed(self) -> Mapping[str, Any]:
        """The values of the fields."""
        return {name: field.value for name, field in self.fields.items()}

    @on(Select.Changed)
    @on(ChoiceLine.Picked)
    def _show_asked(self) -> None:
        """Show the fields whose condition holds."""
        for field in self.fields.values():
            if field.only_if is not None:
                name, value = field.only_if
                field.display = self.fields[name].value == value

    def problems(self) -> list[Problem]:
        """Return what is wrong, each problem with its field."""
        asked = [field for field in self.fields.values() if field.display]
        return [Problem(field.problem, member=field.key) for field in asked if field.problem]

    @on(Input.Submitted)
    def _entered(self) -> None:
        """Continue; beside a field of several lines, where enter begins a line, go to the next field."""
        if self._has_area:
            self.focus_next()
        else:
            self.action_accept()

    def action_accept(self) -> None:
        """Continue, if nothing is wrong."""
        self._said_of = None
        del self._may_go[1:]  # the warning of escape goes with the sentence
        self.complain(None)
        order = {name: number for number, name in enumerate(self.fields)}
        problems = sorted(self.problems(), key=lambda each: (not each.stops, order.get(each.member, -1)))
        for name, field in self.fields.items():
            field.say_problem(next((problem for problem in problems if problem.member == name), None))
        if problems and problems[0].stops:
            self.refuse(problems[0].words, problems[0].member)
        else:
            self.take()

    def take(self) -> None:
        """Continue with the typed values."""
        raise NotImplementedError

    def refuse(self, words: str, field: str = "") -> None:
        """Show why it does not continue, at the field that it concerns, if any."""
        if field in self.fields:
            self.fields[field].say_problem(Problem(words))
            first = self.fields[field].first
            if isinstance(first, Input):
                first.select_on_focus = False  # the next key must not replace what is to be mended
            self.set_focus(first)
            self.call_after_refresh(self.fields[field].note.scroll_visible, animate=False)
        else:
            self.complain(words)
            self._said_of = self.typed

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Select.Changed)
    @on(ChoiceLine.Picked)
    def _forget_said(self) -> None:
        """Remove the sentence below the fields once something else stands in them."""
        if self._said_of not in (None, self.typed):
            self._said_of = None
            self.complain(None)

    def allow_closing(self) -> None:
        """Let it close without a warning while nothing else is typed than now."""
        self._may_go.append(self.typed)

    def action_cancel(self) -> None:
        """Close without an answer; changes are discarded only when escape is pressed twice."""
        if self.may_close():
            self.dismiss(None)
        else:
            self.say("esc again drops what you typed.", Tone.WARN)

    def may_close(self) -> bool:
        """Whether it may close: nothing typed is lost then, or this is asked a second time."""
        if self._body.disabled or self.typed in self._may_go:
            return True
        self.allow_closing()
        self._said_of = self.typed
        return False


class FormDialog(FieldsDialog[Result]):
    """Asks for the values of fields and runs `send` with them; the dialog's answer is what `send` returns.

    Errors of `send` are shown where they belong, and everything typed is kept: RefusedError, ConfigError, which is
    shown at the field `blamed`, or ServiceError, which is shown at the fields that the server refused, at `blamed` if
    it names none. With `on_background`, escape closes the dialog while `send` runs and calls it; `send` goes on in the
    background, and has to say itself how it ended. A `harmless` one ends with the dialog.
    """

    def __init__(
        self,
        title: str,
        fields: Sequence[InputField],
        send: Callable[[Typed], Awaitable[Result]],
        *,
        said: Now[Sequence[Cell]] = (),
        verb: str = "save",
        sending: str = "Waiting for the server…",
        blamed: str = "",
        on_background: Callable[[], None] | None = None,
        harmless: bool = False,
    ) -> None:
        super().__init__(title, fields, said=said, verb=verb)
        self._do = send
        self._sending_words = sending
        self._blamed = blamed
        self._on_background = on_background
        self._harmless = harmless
        self.in_background = False
        """Whether the dialog was closed while its request runs."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a request is running, there is nothing to send."""
        return not (self._body.disabled and action == "accept") and super().check_action(action, parameters)

    def take(self) -> None:
        """Run the form's request."""
        owner = self if self._on_background is None else self.app  # a worker of the dialog ends with it
        owner.run_worker(self._send(self.typed))

    def action_cancel(self) -> None:
        """Close as every form; while a request is running, only if that can go on in the background."""
        if not self._body.disabled:
            super().action_cancel()
        elif self._on_background is None and not self._harmless:
            self.say("The server has not answered yet; a moment.", Tone.WARN)
        else:
            self.in_background = True
            self.dismiss(None)
            if self._on_background is not None:
                self._on_background()

    async def _send(self, typed: Typed) -> None:
        self.say(self._sending_words, Tone.BUSY)
        try:
            done = await self._locked(self._do(typed))
        except RefusedError as error:
            self.complain(None)
            if error.empty:
                with self.prevent(Input.Changed):
                    self.fields[error.field].query_one(Input).clear()
            self.refuse(error.words, error.field)
        except ConfigError as error:
            self.complain(None)
            self.refuse(error.sentence, self._blamed)
        except ServiceError as error:
            self.complain(None)
            self._refuse_as(error)
        else:
            if not self.in_background:
                self.app.key_lost_at = self._lost_at
                self.dismiss(done)

    async def _locked(self, sending: Awaitable[Result]) -> Result:
        """Wait for the request with the fields locked: what is typed meanwhile would be lost when the form closes."""
        focused = self.focused
        self._body.disabled = True
        self.hint((("esc", "back"),) if self._harmless or self._on_background is not None else ())
        try:
            return await sending
        finally:
            self._body.disabled = False
            if not self.in_background:
                self.hint(self._hints)
                self.set_focus(focused)

    def _refuse_as(self, error: ServiceError) -> None:
        told = {
            next((part for part in reversed(each.location) if part in self.fields), self._blamed): each.message
            for each in reversed(error.problems)
        } or {self._blamed: error.words}
        if error.kind not in ABOUT_A_FIELD or "" in told:
            self.refuse(error.sentences)
            return
        for name in reversed(self.fields):  # the cursor ends at the first
            if name in told:
                self.refuse(told[name][:1].upper() + told[name][1:], name)
