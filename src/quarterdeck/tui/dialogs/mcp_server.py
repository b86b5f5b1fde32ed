"""One MCP server: its members by transport, checked before they are taken over."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

from quarterdeck.client.models.mcp import McpServer, ShttpServer, StdioServer
from quarterdeck.settings import mcp_checks
from quarterdeck.settings.fields import Problem, Unreadable, as_whole
from quarterdeck.settings.mcp import converted
from quarterdeck.settings.mcp_server import transport_of
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.dialogs.mcp_members import ArgumentsArea, CommandInput, EnvironmentRows, rows_of, shown
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.inputs import KEEP, ChoiceLine, LineInput, SecretControl

Check = Callable[[McpServer], Iterable[Problem]]
"""What is wrong with a server among the others of the list, with the member each problem is about."""
REVEALS = "A hidden argument would be shown: keep the word before it, or type the argument anew."
SPLIT = "^o puts what is around the command where it belongs."
NO_NUMBER = "This is not a number; type one such as 60."


class McpServerDialog(Dialog[McpServer]):
    """Edit a server, or fill in a new one; members that are left alone stay exactly as they were.

    `hidden` says that the service tells no secrets of its servers, `stored` that it holds this one.
    """

    CSS_PATH = ["dialog.tcss", "settings_dialogs.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "accept", "Take over", show=False, priority=True),
        Binding("ctrl+o", "split", "Split the command", show=False, priority=True),
    ]
    HINTS = (("ctrl+s", "take over"), ("tab", "next field"), ("escape", "cancel"))

    def __init__(
        self, title: Shown, server: McpServer, check: Check, *, hidden: bool = False, stored: bool = False
    ) -> None:
        super().__init__(title)
        self._given = self._server = server
        self._check = check
        self._members = rows_of(server, hidden=hidden, stored=stored)
        self._warned = False

    def body(self) -> Iterable[Widget]:
        """The members of the transport."""
        return self._members.values()

    def on_mount(self) -> None:
        """Show what belongs to the type."""
        self._look_at_type()

    def first_focus(self) -> Widget | None:
        """The name or the address."""
        return self._members["url" if "url" in self._members else "name"].control

    # Leaving

    @on(Input.Submitted)
    def action_accept(self) -> None:
        """Answer with the server, if nothing stops it."""
        server, problems = self._read()
        problems = [*problems, *self._check(server)]
        problems.sort(key=lambda problem: not problem.stops)
        for name, row in self._members.items():
            problem = next((problem for problem in problems if problem.member == name), None)
            row.say(problem.words if problem else "", stops=problem is not None and problem.stops)
        stopped = next((problem for problem in problems if problem.stops), None)
        if stopped is None:
            self.dismiss(server)
        elif stopped.member in self._members:
            controls = self._members[stopped.member].query("*")
            self.set_focus(next(control for control in controls if control.focusable))
        else:
            self.complain(text.line(stopped.words))

    def action_cancel(self) -> None:
        """Leave; where something was changed only at the second time."""
        if self._warned or self._read() == (self._given, []):
            self.dismiss(None)
        self._warned = True
        self.say(Shown("esc again drops what you changed; ctrl+s takes it over."), Tone.WARN)

    # Hints

    @on(ChoiceLine.Picked)
    def _make_other_type(self) -> None:
        """Make it the other of SSE and HTTP."""
        self._server = converted(self._server) or self._server
        self._look_at_type()

    @on(Input.Changed)
    def _line_changed(self) -> None:
        self._look_at_type()

    def _look_at_type(self) -> None:
        """Show what the type has, and say where the address looks like one of the other type."""
        if isinstance(self._server, StdioServer):
            return
        self._members["timeout"].display = isinstance(self._server, ShttpServer)
        address = self._members["url"].query_one(LineInput).value.strip()
        problem = mcp_checks.url(address, transport_of(self._server))
        self._members["type"].say(problem.words if problem and not problem.stops else "", stops=False)

    @on(CommandInput.Changed)
    def _command_changed(self, event: CommandInput.Changed) -> None:
        if isinstance(event.input, CommandInput) and " " in event.value.strip():
            self._members["command"].say(SPLIT)

    def action_split(self) -> None:
        """Take a typed command line apart."""
        for command in self.query(CommandInput):
            command.split()

    @on(CommandInput.Followed)
    def _put_around(self, event: CommandInput.Followed) -> None:
        self.query_one(ArgumentsArea).add(event.line.words)
        self.query_one(EnvironmentRows).put(event.line.env)
        where = "Environment and Arguments" if event.line.env else "Arguments"
        self.say(Shown(f"What stood around the command was put under {where}."))

    # What stands in the fields

    def _read(self) -> tuple[McpServer, list[Problem]]:
        """The server as it stands, and what cannot even be put into one."""
        members: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for name, row in self._members.items():
            was = getattr(self._server, name, None)
            match row.control:
                case ArgumentsArea() as area:
                    members[name] = area.arguments
                    problems |= {name: REVEALS} if area.reveals else {}
                case EnvironmentRows() as rows if rows.twice:
                    problems[name] = f"{rows.twice} is there twice; keep one."
                case EnvironmentRows() as rows if rows.changed:
                    members[name] = rows.variables
                case SecretControl(value=value):
                    members[name] = was if value is KEEP else value
                case LineInput(value=value) if name == "timeout":
                    wait = as_whole(value)
                    if isinstance(wait, Unreadable):
                        problems[name] = NO_NUMBER
                    elif isinstance(self._server, ShttpServer):
                        members[name] = wait
                case LineInput(value=value):
                    members[name] = was if value == shown(str(was)) else value.strip()
        differing = {name: value for name, value in members.items() if value != getattr(self._server, name, None)}
        found = [Problem(words, member=name) for name, words in problems.items()]
        return self._server.model_copy(update=differing), found
