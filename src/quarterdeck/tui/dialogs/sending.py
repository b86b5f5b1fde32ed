"""A form of a few members that is sent at once, and stays until the server has taken it."""

from collections.abc import Iterable
from contextlib import nullcontext
from typing import ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Static

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.settings.fields import Problem, Severity
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.connected import ConnectedApp
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import lines, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput
from quarterdeck.tui.widgets.settings.member import Member

AT_PLACE = (ErrorKind.CONFLICT, ErrorKind.INVALID)
"""Refusals that are about what was typed."""


class SendingDialog(Dialog[Shown]):
    """Ask, and send the answer; a refusal is said at the member it is about. Dismisses with what was done."""

    CSS_PATH = ["dialog.tcss", "settings_dialogs.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "accept", "Send", show=False, priority=True)]
    HINTS = (("enter", "do it at once"), ("tab", "next field"), ("esc", "cancel"))
    BLAMED: ClassVar[str]
    """The member that a refusal is about."""
    app = getters.app(ConnectedApp)
    asking = getters.query_one("#asking", Static)

    def __init__(self, title: Shown) -> None:
        super().__init__(title)
        self._sending = False

    def said(self) -> Iterable[Cell]:
        """What to know before."""
        return ()

    def members(self) -> Iterable[Member]:
        """The members of the form."""
        raise NotImplementedError

    def problems(self) -> Iterable[Problem]:
        """What is wrong with what was typed; nothing is sent then."""
        return ()

    async def send(self) -> Shown:
        """Do it and say what was done; raises ServiceError."""
        raise NotImplementedError

    def body(self) -> Iterable[Widget]:
        """What to know, the members, and whether something is on its way."""
        said = tuple(self.said())
        if said:
            yield Static(lines(said), classes="value")
        yield from self.members()
        yield Static(id="asking")

    def typed(self, member: str) -> str:
        """What a member's line holds, without blanks around it."""
        return self.query_one(f"#member-{member} LineInput", LineInput).value.strip()

    @on(Input.Submitted)
    def action_accept(self) -> None:
        """Send, if nothing is wrong with it."""
        if self._sending:
            return
        self.complain(None)
        problem = next(iter(self.problems()), None)
        if problem is not None:
            self._say_at(problem)
        else:
            self._send()

    def action_cancel(self) -> None:
        """Leave, but not while something is on its way."""
        if self._sending:
            self.complain(Shown("The server has not answered yet; a moment."))
        else:
            self.dismiss(None)

    @work(exclusive=True, group="send")
    async def _send(self) -> None:
        self._show_sending(sending=True)
        session = self.app.session
        try:
            with session.writes.under_way("a change of the settings") if session is not None else nullcontext():
                done = await self.send()
        except ServiceError as error:
            self._show_sending(sending=False)
            self._refused(error)
        else:
            self.dismiss(done)

    @on(ConnectedApp.Said)
    def _say_it_here_too(self, said: ConnectedApp.Said) -> None:
        self.complain(said.words)

    def _refused(self, error: ServiceError) -> None:
        if error.kind in AT_PLACE:
            told = error.problems[0].message if error.problems else error.words
            self._say_at(Problem("", told[:1].upper() + told[1:], Severity.ERROR, member=self.BLAMED))
            return
        unsure = "Unknown whether it was done: " if error.outcome is Outcome.UNKNOWN else ""
        self.complain(text.line(f"{unsure}{error.words} {error.advice}"))

    def _say_at(self, problem: Problem) -> None:
        member = self.query_one(f"#member-{problem.member}", Member)
        member.say(problem)
        self.set_focus(member.control)

    def _show_sending(self, *, sending: bool) -> None:
        self._sending = sending
        self.asking.update(plain(Shown("Waiting for the server…" if sending else ""), Tone.BUSY))
