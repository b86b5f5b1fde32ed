"""One MCP server: its members by transport, checked before they are taken over."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from pydantic import SecretStr
from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.settings.fields import Problem, Unreadable, as_whole
from quarterdeck.settings.mcp import converted
from quarterdeck.settings.mcp_checks import KEY
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.dialogs.mcp_members import (
    ArgumentsArea,
    CommandInput,
    EnvironmentRows,
    TypeLine,
    members_of,
    shown,
)
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.inputs import LineInput, Member, SecretAction, SecretControl

Check = Callable[[McpServer], Iterable[Problem]]
"""What is wrong with a server among the others of the list, with the member each problem is about."""
REVEALS = "A hidden argument would be shown: keep the word before it, or type the argument anew."
SPLIT = "^o puts what is around the command where it belongs."


class McpServerDialog(Dialog[McpServer]):
    """Edit a server, or fill in a new one; members that are left alone stay exactly as they were.

    `hidden` says that the service tells no secrets of its servers, `stored` that it holds this one.
    """

    CSS_PATH = ["dialog.tcss", "settings_dialogs.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "accept", "Take over", show=False, priority=True),
        Binding("ctrl+o", "follow_hint", "Other type, or split", show=False, priority=True),
    ]
    HINTS = (("ctrl+s", "take over"), ("tab", "next field"), ("escape", "cancel"))

    def __init__(
        self, title: Shown, server: McpServer, check: Check, *, hidden: bool = False, stored: bool = False
    ) -> None:
        super().__init__(title)
        self._given = self._server = server
        self._check = check
        self._hidden, self._stored = hidden, stored
        self._warned = False

    def body(self) -> Iterable[Widget]:
        """The members of the transport."""
        return members_of(self._server, hidden=self._hidden, stored=self._stored)

    # Leaving

    @on(Input.Submitted)
    def action_accept(self) -> None:
        """Answer with the server, if nothing stops it."""
        server, problems = self._read()
        problems = [*problems, *self._check(server)]
        for member in self.query(Member):
            about = [problem for problem in problems if f"member-{problem.member}" == member.id]
            member.say(next((problem for problem in about if problem.stops), next(iter(about), None)))
        stopped = next((problem for problem in problems if problem.stops), None)
        if stopped is None:
            self.dismiss(server)
        else:
            self._focus_member(stopped.member)

    def action_cancel(self) -> None:
        """Leave; where something was changed only at the second time."""
        if self._warned or self._read() == (self._given, []):
            self.dismiss(None)
        self._warned = True
        self.say(Shown("esc again drops what you changed; ctrl+s takes it over."), Tone.WARN)

    def _focus_member(self, name: str) -> None:
        member = self.query_one(f"#member-{name}", Member)
        first = next((widget for widget in member.walk_children(Widget) if widget.focusable and widget.display), None)
        if first is not None:
            self.set_focus(first)

    # Hints

    def action_follow_hint(self) -> None:
        """Make it the other of SSE and HTTP; of a command, take apart what was typed there."""
        if isinstance(self._server, StdioServer):
            self.query_one(CommandInput).split()
            return
        other = converted(self._server)
        if other is not None:
            self._server = other
            self._look_at_type()

    @on(Input.Changed)
    def _line_changed(self) -> None:
        if not isinstance(self._server, StdioServer):
            self._look_at_type()

    @on(CommandInput.Changed, "#member-command CommandInput")
    def _command_changed(self, event: CommandInput.Changed) -> None:
        if " " in event.value.strip():
            self.query_one("#member-command", Member).say(Problem(KEY, SPLIT, member="command"))

    @on(CommandInput.Followed)
    def _put_around(self, event: CommandInput.Followed) -> None:
        self.query_one(ArgumentsArea).add(event.line.words)
        self.query_one("#member-env EnvironmentRows", EnvironmentRows).put(event.line.env)
        where = "Environment and Arguments" if event.line.env else "Arguments"
        self.say(Shown(f"What stood around the command was put under {where}."))

    def _look_at_type(self) -> None:
        is_http = isinstance(self._server, ShttpServer)
        self.query_one(TypeLine).show(self._server, self._line("url", ""))
        self.query_one("#member-timeout", Member).display = is_http

    # What stands in the fields

    def _read(self) -> tuple[McpServer, list[Problem]]:
        """The server as it stands, and what cannot even be put into one."""
        if isinstance(self._server, StdioServer):
            members: dict[str, Any] = {
                "name": self._line("name", self._server.name),
                "command": self._line("command", self._server.command),
                "args": self.query_one(ArgumentsArea).arguments,
            }
            problems = self._read_rows("env", members)
            if self.query_one(ArgumentsArea).reveals:
                problems.append(Problem(KEY, REVEALS, member="args"))
        else:
            members = {"url": self._line("url", self._server.url), "api_key": self._key(self._server)}
            problems = self._read_timeout(members) if isinstance(self._server, ShttpServer) else []
            problems += self._read_rows("headers", members)
        return _changed(self._server, members), problems

    def _read_rows(self, name: str, members: dict[str, Any]) -> list[Problem]:
        """Variables or headers, where the server has a place for them; untouched headers stay as they came."""
        found = self.query(f"#member-{name} EnvironmentRows").results(EnvironmentRows)
        for rows in found:
            if rows.twice:
                return [Problem(KEY, f"{rows.twice} is there twice; keep one.", member=name)]
            if rows.changed or name == "env":
                members[name] = rows.variables
        return []

    def _read_timeout(self, members: dict[str, Any]) -> list[Problem]:
        timeout = as_whole(self._line("timeout", ""))
        if isinstance(timeout, Unreadable):
            return [Problem(KEY, "This is not a number; type one such as 60.", member="timeout")]
        members["timeout"] = timeout
        return []

    def _line(self, member: str, was: str) -> str:
        """What a line holds; one that was not touched holds the very value it had."""
        value = self.query_one(f"#member-{member} LineInput", LineInput).value
        return was if value == shown(was) else value.strip()

    def _key(self, server: SseServer | ShttpServer) -> SecretStr | None:
        control = self.query_one(SecretControl)
        match control.action:
            case SecretAction.KEEP:
                return server.api_key
            case SecretAction.REPLACE:
                return control.typed
            case SecretAction.CLEAR:
                return None


def _changed(server: McpServer, members: dict[str, Any]) -> McpServer:
    differing = {name: value for name, value in members.items() if value != getattr(server, name, None)}
    return server.model_copy(update=differing)
