"""The fields of an MCP server in its dialog, by its transport."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.client.models.mcp import McpServer, ShttpServer, StdioServer
from quarterdeck.settings import masks, words
from quarterdeck.settings.fields import typed
from quarterdeck.settings.mcp_server import name_of
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import content, lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.arguments import ArgumentsArea, CommandInput
from quarterdeck.tui.widgets.settings.cells import brief
from quarterdeck.tui.widgets.settings.environment import EnvironmentRows
from quarterdeck.tui.widgets.settings.line_input import LineInput, abridged
from quarterdeck.tui.widgets.settings.member import Member
from quarterdeck.tui.widgets.settings.secret_control import NONE, SecretControl

UNTOLD = "The service tells nothing of what is stored here; a save loses it unless you type it again."
NOT_TOLD = Shown("not told")
NOT_SHOWN = frozenset({"name", "headers", "transport", "type"})
"""Members with a place of their own in the dialog or the list."""


class TypeLine(Static):
    """Which of the two remote types it is, and how it is made the other one."""

    def __init__(self, server: McpServer) -> None:
        super().__init__()
        self._spans = _type_spans(server, name_of(server))

    def on_mount(self) -> None:
        """Paint what is known from the beginning."""
        self.update(content(self._spans))

    def show(self, server: McpServer, url: str) -> None:
        """Go by another type or address."""
        spans = _type_spans(server, url)
        if spans != self._spans:
            self._spans = spans
            self.update(content(spans))


def members_of(server: McpServer, *, hidden: bool, stored: bool) -> Iterator[Widget]:
    """All fields of a server, filled with what is known; `hidden` and `stored` as the dialog has them."""
    hint = UNTOLD if hidden and stored and not words.has_secret(server) else ""
    if isinstance(server, StdioServer):
        yield Member("name", "Name", LineInput(text.line(server.name)))
        yield Member("command", "Command", CommandInput(shown(server.command), placeholder="npx"))
        yield Member("args", "Arguments", ArgumentsArea(server.args), "one a line; a pasted command line is split")
        yield Member("env", "Environment", EnvironmentRows(server.env), hint)
    else:
        timeout = server.timeout if isinstance(server, ShttpServer) else None
        field = Member("timeout", "Time-out, s", LineInput(typed(timeout), placeholder="server default, 60"))
        field.display = isinstance(server, ShttpServer)
        yield Member("type", "Type", TypeLine(server))
        yield Member("url", "Address", LineInput(shown(server.url), placeholder="https://"))
        key = SecretControl(stored=words.has_secret(server), none=NOT_TOLD if hint else NONE)
        yield Member("api_key", "API key", key, hint)
        yield field
        headers = _headers(server)
        if headers is not None or hidden:
            yield Member("headers", "Headers", EnvironmentRows(headers or {}, separator=":"))
    kept = tuple(_others(server))
    if kept:
        yield Member("kept", "Also kept", Static(lines(kept)), "members the deck does not know; they stay as they are")


def shown(value: str) -> Shown:
    """A value as its field begins with it: what may be secret in an address is hidden."""
    return abridged(masks.address(value))


def _headers(server: McpServer) -> dict[str, SecretStr] | None:
    """Headers that are there; None where the server has no place for them, or one that rows cannot show."""
    held = (server.model_extra or {}).get("headers")
    if not isinstance(held, dict) or not all(isinstance(value, str | SecretStr) for value in held.values()):
        return None
    return {name: value if isinstance(value, SecretStr) else SecretStr(value) for name, value in held.items()}


def _others(server: McpServer) -> Iterable[Cell]:
    skipped = NOT_SHOWN if _headers(server) is not None else NOT_SHOWN - {"headers"}
    for name, value in (server.model_extra or {}).items():
        if name not in skipped:
            held: Any = masks.document(value, name)
            yield ((brief(name), Tone.MUTED), (Shown("  "), Tone.PLAIN), (brief(typed(held)), Tone.PLAIN))


def _type_spans(server: McpServer, url: str) -> Cell:
    kind = words.server_kind(server)
    other = "SSE" if isinstance(server, ShttpServer) else "HTTP"
    said: Cell = ((Shown(f"{kind}  "), Tone.STRONG), (Shown("^o"), Tone.KEY), (Shown(f" makes it {other}"), Tone.MUTED))
    if _ending(url) == ("sse" if isinstance(server, ShttpServer) else "mcp"):
        return (*said, (Shown(f"  Did you mean {other}?"), Tone.WARN))
    return said


def _ending(url: str) -> str:
    """The last part of an address's path."""
    try:
        return urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return ""
