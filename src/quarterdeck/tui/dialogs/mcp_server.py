"""One MCP server: its members by transport, checked before they are taken over."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from pydantic import SecretStr
from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

from quarterdeck.draft import masks
from quarterdeck.draft.mcp_checks import KEY
from quarterdeck.draft.problem import Problem
from quarterdeck.draft.reading import Unreadable, as_whole, typed
from quarterdeck.service.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.tui import text
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.arguments import ArgumentsArea, CommandInput
from quarterdeck.tui.widgets.settings.environment import EnvironmentRows
from quarterdeck.tui.widgets.settings.line_input import LineInput
from quarterdeck.tui.widgets.settings.member import Member
from quarterdeck.tui.widgets.settings.secret_control import SecretAction, SecretControl

Check = Callable[[McpServer], Iterable[Problem]]
"""What is wrong with a server among the others of the list, with the member each problem is about."""


class McpServerDialog(Dialog[McpServer]):
    """Edit a server, or fill in a new one; members that are left alone stay exactly as they were."""

    CSS_PATH = ["dialog.tcss", "settings_dialogs.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "accept", "Take over", show=False, priority=True)]
    HINTS = (("^s", "take over"), ("tab", "next field"), ("esc", "cancel"))

    def __init__(self, title: Shown, server: McpServer, check: Check) -> None:
        super().__init__(title)
        self._server = server
        self._check = check
        self._warned = False

    def body(self) -> Iterable[Widget]:
        """The members of the transport."""
        server = self._server
        if isinstance(server, StdioServer):
            yield Member("name", "Name", LineInput(text.line(server.name)))
            yield Member("command", "Command", CommandInput(text.line(server.command), placeholder="npx"))
            yield Member("args", "Arguments", ArgumentsArea(server.args), "one a line; a pasted command line is split")
            yield Member("env", "Environment", EnvironmentRows(server.env))
        else:
            yield Member("url", "Address", LineInput(_shown(server.url), placeholder="https://"))
            stored = server.api_key is not None and bool(server.api_key.get_secret_value())
            yield Member("api_key", "API key", SecretControl(stored=stored))
        if isinstance(server, ShttpServer):
            yield Member("timeout", "Time-out, s", LineInput(typed(server.timeout), placeholder="server default, 60"))

    @on(Input.Submitted)
    @on(SecretControl.Done)
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
        if self._warned or self._read() == (self._server, []):
            self.dismiss(None)
        self._warned = True
        self.complain(Shown("esc again drops what you changed; ctrl+s takes it over."))

    def _focus_member(self, name: str) -> None:
        member = self.query_one(f"#member-{name}", Member)
        first = next((widget for widget in member.walk_children(Widget) if widget.focusable and widget.display), None)
        if first is not None:
            first.focus()

    @on(CommandInput.Followed)
    def _put_arguments(self, event: CommandInput.Followed) -> None:
        self.query_one(ArgumentsArea).add(event.words)
        self.complain(Shown("What followed the command was put under Arguments."))

    def _read(self) -> tuple[McpServer, list[Problem]]:
        """The server as it stands, and what cannot even be put into one."""
        problems: list[Problem] = []
        if isinstance(self._server, StdioServer):
            rows = self.query_one(EnvironmentRows)
            if rows.twice:
                problems.append(Problem(KEY, f"{rows.twice} is there twice; keep one.", member="env"))
            members: dict[str, Any] = {
                "name": self._line("name", self._server.name),
                "command": self._line("command", self._server.command),
                "args": self.query_one(ArgumentsArea).arguments,
                "env": rows.variables,
            }
            return _changed(self._server, members), problems
        members = {"url": self._line("url", self._server.url), "api_key": self._key(self._server)}
        if isinstance(self._server, ShttpServer):
            timeout = as_whole(self._line("timeout", ""))
            if isinstance(timeout, Unreadable):
                problems.append(Problem(KEY, "This is not a number; type one such as 60.", member="timeout"))
            else:
                members["timeout"] = timeout
        return _changed(self._server, members), problems

    def _line(self, member: str, was: str) -> str:
        """What a line holds; one that was not touched holds the very value it had."""
        value = self.query_one(f"#member-{member} LineInput", LineInput).value
        return was if value == _shown(was) else value.strip()

    def _key(self, server: SseServer | ShttpServer) -> SecretStr | None:
        control = self.query_one(SecretControl)
        match control.action:
            case SecretAction.KEEP:
                return server.api_key
            case SecretAction.REPLACE:
                return control.typed
            case SecretAction.CLEAR:
                return None


def _shown(value: str) -> Shown:
    """A value as its field begins with it: what may be secret in an address is hidden."""
    return text.line(masks.address(value))


def _changed(server: McpServer, members: dict[str, Any]) -> McpServer:
    differing = {name: value for name, value in members.items() if value != getattr(server, name)}
    return server.model_copy(update=differing)
