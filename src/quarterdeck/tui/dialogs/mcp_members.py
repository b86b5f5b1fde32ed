"""The fields of an MCP server in its dialog, by its transport: arguments one a line, variables and headers in rows."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from pydantic import SecretStr
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from quarterdeck.client.models.mcp import McpServer, ShttpServer, StdioServer
from quarterdeck.settings import masks, words
from quarterdeck.settings.fields import typed
from quarterdeck.settings.mcp_server import Transport, is_hidden, transport_of
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import lines, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.inputs import (
    NONE,
    ChoiceLine,
    FormRow,
    LineInput,
    PlainArea,
    SecretControl,
    abridged,
)
from quarterdeck.tui.widgets.form.lines import brief

UNTOLD = "The service tells nothing of what is stored here; a save loses it unless you type it again."
NOT_TOLD = Shown("not told")
NOT_SHOWN = frozenset({"name", "headers", "transport", "type"})
"""Members with a place of their own in the dialog or the list."""
REMOTE = (Transport.SSE, Transport.SHTTP)
"""The types of a server with an address."""
EMPTY = Shown('""')
"""The line of an argument without any text."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def rows_of(server: McpServer, *, hidden: bool, stored: bool) -> dict[str, FormRow]:
    """Member -> its row, filled with what is known; `hidden` and `stored` as the dialog has them."""
    hint = UNTOLD if hidden and stored and not words.has_secret(server) else ""
    if isinstance(server, StdioServer):
        rows = {
            "name": _row("Name", LineInput(text.line(server.name))),
            "command": _row("Command", CommandInput(shown(server.command), placeholder="npx")),
            "args": _row("Arguments", ArgumentsArea(server.args), "one a line; a pasted command line is split"),
            "env": _row("Environment", EnvironmentRows(server.env), hint),
        }
    else:
        timeout = server.timeout if isinstance(server, ShttpServer) else None
        key = SecretControl(stored=words.has_secret(server), none=NOT_TOLD if hint else NONE)
        rows = {
            "type": _row("Type", ChoiceLine(list(map(Shown, REMOTE)), REMOTE.index(transport_of(server)))),
            "url": _row("Address", LineInput(shown(server.url), placeholder="https://")),
            "api_key": _row("API key", key, hint),
            "timeout": _row("Time-out, s", LineInput(typed(timeout), placeholder="server default, 60")),
        }
        headers = _headers(server)
        if headers is not None or hidden:
            rows["headers"] = _row("Headers", EnvironmentRows(headers or {}, separator=":"))
    kept = tuple(_others(server))
    if kept:
        said = "members the deck does not know; they stay as they are"
        rows["kept"] = _row("Also kept", Static(lines(kept)), said)
    return rows


def _row(label: str, control: Widget, hint: str = "") -> FormRow:
    return FormRow(plain(Shown(label), Tone.MUTED), control, hint=hint)


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


# Command and arguments


@dataclass(frozen=True)
class CommandLine:
    """A command line taken apart: assignments before the command, the command, and what follows it."""

    env: Mapping[str, str]
    command: str
    words: Sequence[str]


def shell_words(pasted: str) -> list[str]:
    """The words of one line as a shell splits them, a backslash at its end joining the next; other text by lines."""
    lines = [line for line in pasted.replace("\\\n", " ").splitlines() if line.strip()]
    if len(lines) != 1:
        return lines
    try:
        return shlex.split(lines[0])
    except ValueError:
        return lines


def command_line(pasted: str) -> CommandLine:
    """What a line for a shell starts, with which variables and arguments."""
    words = shell_words(pasted.strip().removeprefix("$ "))
    assigned = [_ASSIGNMENT.fullmatch(word) for word in words[:-1]]
    first = next((place for place, match in enumerate(assigned) if match is None), len(assigned))
    env = {match[1]: match[2] for match in assigned[:first] if match is not None}
    command, *others = words[first:] or [""]
    return CommandLine(env, command, others)


class CommandInput(LineInput):
    """The command; what follows its first word in a paste belongs to the arguments."""

    @dataclass
    class Followed(Message):
        """There was more than the command."""

        line: CommandLine

    def paste(self, pasted: str) -> None:
        """Take the command, and hand on what is around it."""
        line = command_line(pasted)
        super().paste(line.command)
        if line.words or line.env:
            self.post_message(self.Followed(line))

    def split(self) -> bool:
        """Take a typed command line apart as a pasted one; False where there is nothing to split."""
        line = command_line(self.value)
        if not line.words and not line.env:
            return False
        self.value = text.line(line.command)
        self.post_message(self.Followed(line))
        return True


class ArgumentsArea(PlainArea):
    """Arguments, one a line; a secret one is masked, and a line left as it is stays the argument it was."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        lines = _lines(arguments)
        self._by_line = {EMPTY: "", **dict(zip(lines, arguments, strict=True))}
        self._hidden = _hidden(arguments)
        super().__init__("\n".join(lines))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments as they stand."""
        lines = (line.strip() for line in self.text.splitlines())
        return tuple(self._by_line.get(line, line) for line in lines if line)

    @property
    def reveals(self) -> bool:
        """Whether an argument that was hidden would be shown, because the word before it tells of no secret now."""
        now = self.arguments
        return not self._hidden.isdisjoint(frozenset(now) - _hidden(now))

    def add(self, words: Sequence[str]) -> None:
        """Put words at the end, one a line."""
        before = self.text.rstrip("\n")
        self.text = "\n".join(([before] if before else []) + self._as_lines(words))
        self.move_cursor(self.document.end)

    def on_paste(self, event: events.Paste) -> None:
        """Split a pasted line as a shell does."""
        event.prevent_default()
        event.stop()
        self.replace("\n".join(self._as_lines(shell_words(event.text))), *self.selection)

    def _as_lines(self, words: Sequence[str]) -> list[str]:
        """A line for each word; of one that cannot stand in a line as it is, the argument is remembered."""
        lines = [abridged(word) or EMPTY for word in words]
        for line, word in zip(lines, words, strict=True):
            self._by_line.setdefault(line, word)
        return list(lines)


def _hidden(arguments: tuple[str, ...]) -> frozenset[str]:
    """The arguments that are not shown as they are."""
    shown = zip(arguments, masks.arguments(arguments), strict=True)
    return frozenset(argument for argument, masked in shown if masked != argument)


def _lines(arguments: tuple[str, ...]) -> list[str]:
    """A line for each argument; different ones that look alike get a number, so that none is taken for another."""
    by_line: dict[str, str] = {}
    lines: list[str] = []
    for argument, masked in zip(arguments, masks.arguments(arguments), strict=True):
        shown = abridged(masked) or EMPTY
        numbered = (f"{shown} ·{number}" for number in count(2))
        line = next(one for one in chain([shown], numbered) if by_line.get(one, argument) == argument)
        by_line[line] = argument
        lines.append(line)
    return lines


# Variables and headers


class VariableRow(Horizontal):
    """One variable; an empty value field keeps what is stored, an empty name drops the row."""

    def __init__(self, name: str = "", kept: SecretStr | None = None, *, separator: str = "=") -> None:
        super().__init__(classes="variable")
        self._separator = separator
        self._variable = name
        self._shown = text.line(name)
        self._kept = kept

    def compose(self) -> ComposeResult:
        """Name and value."""
        yield LineInput(self._shown, placeholder="NAME" if self._separator == "=" else "Name", id="variable-name")
        yield LineInput(placeholder=_placeholder(self._kept), password=True, id="variable-value")

    @property
    def variable(self) -> tuple[str, SecretStr] | None:
        """(name, value) as they stand; None for a row without a name."""
        name, value = (field.value for field in self.query(LineInput))
        if not name.strip():
            return None
        if self._separator == ":":
            value = value.strip()  # blanks around it are no part of a header's value (RFC 9110, 5.5)
        stored = self._kept or SecretStr("")
        return self._variable if name == self._shown else name.strip(), SecretStr(value) if value else stored

    @on(Input.Changed, "#variable-name")
    def _split_assignment(self, event: Input.Changed) -> None:
        """`NAME=value` or `Name: value` typed or pasted into the name falls into both fields."""
        name, separator, value = event.value.partition(self._separator)
        if separator:
            field = self.query_one("#variable-value", LineInput)
            event.input.value = name
            field.value = value.strip() if separator == ":" else value
            self.screen.set_focus(field)


class EnvironmentRows(Vertical):
    """The variables, with an empty row at the end to add one."""

    def __init__(self, variables: Mapping[str, SecretStr], *, separator: str = "=") -> None:
        super().__init__()
        self._variables = variables
        self._separator = separator

    def compose(self) -> ComposeResult:
        """A row for each variable, and an empty one."""
        for name, value in self._variables.items():
            yield VariableRow(name, value, separator=self._separator)
        yield VariableRow(separator=self._separator)

    def put(self, variables: Mapping[str, str]) -> None:
        """Put typed variables in, each in a row of its own."""
        for name, value in variables.items():
            self.mount(VariableRow(name, SecretStr(value), separator=self._separator), before=-1)

    @property
    def variables(self) -> dict[str, SecretStr]:
        """The variables as they stand; of two with one name the last counts."""
        return dict(variable for variable in self._all() if variable is not None)

    @property
    def changed(self) -> bool:
        """Whether any of them is other than it was."""
        return self.variables != dict(self._variables)

    @property
    def twice(self) -> str | None:
        """A name that stands in two rows."""
        counts = Counter(variable[0] for variable in self._all() if variable is not None)
        return next((name for name, count in counts.items() if count > 1), None)

    def _all(self) -> list[tuple[str, SecretStr] | None]:
        return [row.variable for row in self.query(VariableRow)]

    @on(Input.Changed)
    def _keep_one_empty(self) -> None:
        if self.query(VariableRow).last().variable is not None:
            self.mount(VariableRow(separator=self._separator))


def _placeholder(kept: SecretStr | None) -> str:
    if kept is None:
        return "value"
    return "type it again" if is_hidden(kept) else "•••• kept; type to replace"
