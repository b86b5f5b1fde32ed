"""The form for one MCP server: its members by transport, checked before they are accepted.

Arguments are shown one per line, variables and headers in rows; untouched values stay exactly as they were.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any

from pydantic import SecretStr
from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.nested_mcp import stored_auth
from quarterdeck.settings import masks, mcp_checks, words
from quarterdeck.settings.fields import WHOLE, Problem, Unreadable, typed
from quarterdeck.settings.mcp import converted
from quarterdeck.settings.mcp_server import MODELS, holds_hidden
from quarterdeck.settings.mcp_server import members as all_members
from quarterdeck.tui import text
from quarterdeck.tui.dialogs.form import FieldsDialog, InputField
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.lines import brief
from quarterdeck.tui.widgets.inputs import (
    KEEP,
    NONE,
    TO_TYPE,
    ChoiceLine,
    Compound,
    LineInput,
    PlainArea,
    SecretControl,
    abridged,
)

Check = Callable[[McpServer], Iterable[Problem]]
"""Returns what is wrong with a server among the others of the list, each problem with its member."""
UNTOLD = "The service tells nothing of what is stored here; a save of MCP servers loses it unless you type it again."
NOT_TOLD = Shown("not told")
OTHER = "other-"
"""Begins the keys of fields for members that the deck does not know."""
CWD = "cwd"
"""The member for the directory in which a command is started."""
NOT_SHOWN = frozenset({"name", "headers", "transport", "type"})
"""Members shown elsewhere in the dialog or the list."""
REVEALS = "A hidden argument would be shown: keep the word before it, or type the argument anew."
ONE_A_LINE = "one a line; a pasted line is split into words"
NO_NUMBER = "This is not a number; type one such as 60."
EMPTY = Shown('""')
"""The line of an empty argument."""
REMOTE = (SseServer.kind, ShttpServer.kind)
"""The types of a server with an address."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


# Arguments


def _shell_words(pasted: str) -> list[str]:
    """Split a single line as a shell does, after joining lines that end with a backslash; other text by lines."""
    lines = [line for line in pasted.replace("\\\n", " ").splitlines() if line.strip()]
    if len(lines) != 1:
        return lines
    try:
        return shlex.split(lines[0])
    except ValueError:
        return lines


class ArgumentsArea(PlainArea):
    """Arguments, one per line; a secret one is masked, and an unchanged line stays the argument it was."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        self._by_line: dict[str, str] = {EMPTY: ""}
        self._hidden = _hidden(arguments)
        shown = zip(arguments, masks.arguments(arguments), strict=True)
        super().__init__("\n".join([self._line_of(argument, masked) for argument, masked in shown]), soft_wrap=False)

    def _line_of(self, argument: str, shown: str) -> str:
        """Return a line for an argument; different arguments that look alike get a number, to keep them apart."""
        first = abridged(shown) or EMPTY
        lines = chain([first], (f"{first} ·{number}" for number in count(2)))
        line = next(line for line in lines if self._by_line.get(line, argument) == argument)
        self._by_line[line] = argument
        return line

    @property
    def entered(self) -> tuple[str, ...]:
        """The current arguments."""
        lines = (line.strip() for line in self.text.splitlines())
        return tuple(self._by_line.get(line, line) for line in lines if line)

    @property
    def problem(self) -> str:
        """An error if a masked argument would be shown, because the word before it no longer means a secret."""
        now = self.entered
        return "" if self._hidden.isdisjoint(frozenset(now) - _hidden(now)) else REVEALS

    def add(self, words: Sequence[str], *, instead: bool) -> None:
        """Append words, one per line, or put them in place of all lines; undo takes it back."""
        before = [] if instead or not self.text else [self.text.rstrip("\n")]
        self.replace("\n".join([*before, *(self._line_of(word, word) for word in words)]), (0, 0), self.document.end)

    def cleaned(self, pasted: str) -> str:
        """Split a pasted line as a shell does."""
        return "\n".join(self._line_of(word, word) for word in _shell_words(pasted))


def _hidden(arguments: tuple[str, ...]) -> frozenset[str]:
    """Return the arguments that are not shown as they are."""
    shown = zip(arguments, masks.arguments(arguments), strict=True)
    return frozenset(argument for argument, masked in shown if masked != argument)


# Variables and headers


def _by_name(held: object) -> dict[str, SecretStr] | None:
    """Return variables or headers by name; None for a value of another form."""
    if not isinstance(held, dict) or not all(isinstance(value, str | SecretStr) for value in held.values()):
        return None
    return {name: value if isinstance(value, SecretStr) else SecretStr(value) for name, value in held.items()}


class VariableRow(Horizontal):
    """One variable; an empty value field keeps what is stored, an empty name removes the row."""

    def __init__(self, name: str = "", kept: SecretStr | None = None, *, separator: str) -> None:
        self._separator = separator
        self._kept = kept
        about = "value"
        if kept is not None:
            about = "type it again" if holds_hidden(kept) else "•••• kept; type to replace"
        self._name_field = LineInput(name, placeholder="NAME" if separator == "=" else "Name", id="variable-name")
        self._value_field = LineInput(placeholder=about, password=True, id="variable-value")
        self._value_field.set_class(kept is not None and holds_hidden(kept), TO_TYPE)
        super().__init__(self._name_field, self._value_field, classes="variable")

    @property
    def variable(self) -> tuple[str, SecretStr] | None:
        """(name, value) as entered; None for a row without a name."""
        name, value = self._name_field.entered, self._value_field.value
        if self._separator == ":":
            value = value.strip()  # spaces around it are not part of a header's value (RFC 9110, 5.5)
        return (name, SecretStr(value) if value else self._kept or SecretStr("")) if name else None

    @property
    def lacks_name(self) -> bool:
        """Whether a value is typed that has no name."""
        return bool(self._value_field.value) and not self._name_field.entered

    def put(self, value: str) -> None:
        """Take a pasted value, and do not show it."""
        self._kept = SecretStr(value)
        self._value_field.value = ""
        self._value_field.remove_class(TO_TYPE)
        self._value_field.placeholder = "•••• pasted; type to replace"

    @on(Input.Changed, "#variable-name")
    def _split_assignment(self, event: Input.Changed) -> None:
        """Split `NAME=value` or `Name: value`, typed or pasted into the name, into both fields."""
        name, separator, value = event.value.partition(self._separator)
        if separator:
            self._name_field.value = name
            self._value_field.value = (value.strip() if separator == ":" else value) or self._value_field.value
            self.screen.set_focus(self._value_field)


class EnvironmentRows(Compound):
    """Variables or headers, with an empty row at the end to add one."""

    def __init__(self, held: object, *, separator: str = "=") -> None:
        self._held = held
        self._variables = _by_name(held) or {}
        self._separator = separator
        rows = [VariableRow(name, value, separator=separator) for name, value in self._variables.items()]
        super().__init__(*rows, VariableRow(separator=separator))

    def put(self, variables: Mapping[str, str]) -> None:
        """Put pasted variables into their rows, and those that are not there yet into new ones."""
        rows = {row.variable[0]: row for row in self.query(VariableRow) if row.variable is not None}
        for name, value in variables.items():
            row = rows.get(name) or VariableRow(name, separator=self._separator)
            row.put(value)
            if name not in rows:
                self.mount(row, before=-1)

    @property
    def entered(self) -> object:
        """The current variables; exactly the initial value if none changed."""
        now = dict(self._rows())
        return self._held if now == self._variables else now

    @property
    def problem(self) -> str:
        """An error if a name occurs in two rows, or a typed value has none."""
        if any(row.lacks_name for row in self.query(VariableRow)):
            return "A value has no name: type one, or empty the value."
        counts = Counter(name for name, _ in self._rows())
        twice = next((name for name, times in counts.items() if times > 1), None)
        return f"{twice} is there twice; keep one." if twice is not None else ""

    def _rows(self) -> list[tuple[str, SecretStr]]:
        return [row.variable for row in self.query(VariableRow) if row.variable is not None]

    @on(Input.Changed)
    def _keep_one_empty(self) -> None:
        if self.query(VariableRow).last().variable is not None:
            self.mount(VariableRow(separator=self._separator))


class CommandInput(LineInput):
    """The command; other parts of a pasted line are moved to arguments and variables."""

    def __init__(self, command: str, arguments: ArgumentsArea, variables: EnvironmentRows) -> None:
        super().__init__(command, shown=masks.address(command), placeholder="npx")
        self._arguments = arguments
        self._variables = variables

    def paste(self, pasted: str) -> None:
        """Take the command, and pass on the other parts; arguments that are there stay only beside their command."""
        words = _shell_words(pasted.strip().removeprefix("$ "))
        env: dict[str, str] = {}
        while len(words) > 1 and (assigned := _ASSIGNMENT.fullmatch(words[0])):
            env[assigned[1]] = assigned[2]
            words = words[1:]
        instead = not self.value and len(words) > 1
        where = "Environment and Arguments" if env else "Arguments"
        if instead and self._arguments.text:
            where += ", in place of the arguments that were there; ctrl+z there brings them back"
        super().paste(words[0] if words else "")
        if env or len(words) > 1:
            self._arguments.add(words[1:], instead=instead)
            self._variables.put(env)
            self.notice(f"The rest of the command line was put under {where}.")


class OneWordInput(LineInput):
    """A name or an address; a pasted command line goes to the command, if there is an empty field for it."""

    def __init__(self, value: str, command: CommandInput | None = None, *, placeholder: str = "") -> None:
        super().__init__(value, shown=masks.address(value), placeholder=placeholder)
        self._command = command

    def paste(self, pasted: str) -> None:
        """Take one word, and pass on what has more of them; it may contain a key, so it is not shown here."""
        if len(_shell_words(pasted)) < 2 or (self._command is not None and self._command.value):
            super().paste(pasted)
        elif self._command is not None:
            self._command.paste(pasted)
        else:
            self.notice("This is not an address; for a command line, add a server of type stdio. Not taken.")


# The dialog


class McpServerDialog(FieldsDialog[McpServer]):
    """Edits a server, or fills in a new one.

    `hidden` means that the service returns no secrets of its servers, `stored` that it has this one. `refused` is what
    prevents its save, also what the service said; without a member if nothing does.
    """

    def __init__(
        self, title: str, server: McpServer, check: Check, *, hidden: bool, stored: bool, refused: Problem
    ) -> None:
        others = (_other(name, (server.model_extra or {})[name]) for name in _others(server))
        super().__init__(title, [*_fields(server, hidden=hidden, stored=stored), *others], verb="take over")
        self._given = server
        self._check = check
        self._refused = self._at_field(refused)

    def _at_field(self, problem: Problem) -> Problem:
        other = f"{OTHER}{problem.member}"
        return replace(problem, member=other) if other in self.fields else problem

    def first_focus(self) -> Widget | None:
        """What prevents its save, such as a secret to be typed, else the name or the address."""
        usual = self.fields["url" if "url" in self.fields else "name"]
        return self.fields.get(self._refused.member, usual).first

    @property
    def server(self) -> McpServer:
        """The server as entered."""
        members, server = dict(self.typed), self._given
        left = {members.pop(key) for key in [*members] if key.startswith(OTHER)}
        if gone := set(_others(server)) - left:
            kept = {name: value for name, value in all_members(server).items() if name not in gone}
            server = type(server).model_validate(kept)
        if members.pop("type", server.kind) != server.kind:
            server = converted(server) or server
        if CWD in members and (directory := members.pop(CWD)) != typed(getattr(server, CWD, None)):
            members[CWD] = directory or None
        wait = WHOLE.value(members.pop("timeout", ""))
        if isinstance(server, ShttpServer) and not isinstance(wait, Unreadable):
            members["timeout"] = wait
        changed = {
            name: value for name, value in members.items() if value is not KEEP and value != getattr(server, name, None)
        }
        return server.model_copy(update=changed)

    def problems(self) -> list[Problem]:
        """Return values that do not fit into a server, then what is wrong with it among the others."""
        return [*super().problems(), *map(self._at_field, self._check(self.server))]

    def take(self) -> None:
        """Answer with the server."""
        self.dismiss(self.server)

    def on_mount(self) -> None:
        """Check the initial address, and show what was refused at its field."""
        self._doubt_address()
        if self._refused.member in self.fields:
            self.fields[self._refused.member].say_problem(self._refused)

    @on(Input.Changed)
    @on(ChoiceLine.Picked)
    def _doubt_address(self) -> None:
        """Show a doubt about the address at once, at the type if the address looks like one of the other type."""
        if "type" not in self.fields:
            return
        self.fields["type"].say_problem(None)
        problem = mcp_checks.url(self.fields["url"].value, MODELS[self.fields["type"].value])
        if problem is not None and not problem.stops:
            self.fields[problem.member or "url"].say_problem(problem)


def _fields(server: McpServer, *, hidden: bool, stored: bool) -> Iterator[InputField]:
    """Yield the fields of the transport, filled with what is known."""
    hint = UNTOLD if hidden and stored and not words.has_secret(server) else ""
    if isinstance(server, StdioServer):
        arguments, variables = ArgumentsArea(server.args), EnvironmentRows(server.env)
        command = CommandInput(server.command, arguments, variables)
        yield InputField("name", "Name", control=OneWordInput(server.name, command))
        yield InputField("command", "Command", control=command)
        yield InputField("args", "Arguments", hint=ONE_A_LINE, check=lambda _: arguments.problem, control=arguments)
        yield _rows("env", "Environment", variables, hint)
        directory = (server.model_extra or {}).get(CWD)
        if hidden or directory is not None:  # the flat generation keeps no member but the four above
            yield InputField(CWD, "Directory", typed(directory), "empty: the sandbox's own")
        return
    wait = server.timeout if isinstance(server, ShttpServer) else None
    yield InputField("type", "Type", control=ChoiceLine({kind: Shown(kind) for kind in REMOTE}, server.kind))
    yield InputField("url", "Address", control=OneWordInput(server.url, placeholder="https://"))
    has_key = words.has_secret(server) and not holds_hidden(server.api_key)
    key = SecretControl(stored=has_key, none=NOT_TOLD if hint else NONE)
    yield InputField("api_key", "API key", hint=hint, control=key)
    is_http = ("type", ShttpServer.kind)
    yield InputField("timeout", "Time-out, s", typed(wait), "server default, 60", _no_number, only_if=is_http)
    headers = (server.model_extra or {}).get("headers")
    if hidden or _by_name(headers) is not None:
        yield _rows("headers", "Headers", EnvironmentRows(headers, separator=":"))


def _other(name: str, value: Any) -> InputField:
    hint = brief(f"{name}: {typed(masks.document(value, name))}")
    control = ChoiceLine({name: Shown("keep"), "": Shown("remove")}, name)
    return InputField(f"{OTHER}{name}", text.line(name), hint=hint, control=control)


def _rows(name: str, label: str, rows: EnvironmentRows, hint: str = "") -> InputField:
    return InputField(name, label, hint=hint, check=lambda _: rows.problem, control=rows)


def _no_number(value: str) -> str:
    return NO_NUMBER if isinstance(WHOLE.value(value), Unreadable) else ""


def _others(server: McpServer) -> list[str]:
    """Return the names of the members that the deck does not know."""
    unknown = server.model_extra or {}
    is_of_key = stored_auth(server) is None or unknown.get("auth") == {"strategy": "bearer"}
    skipped = NOT_SHOWN | ({"auth"} if is_of_key else set())
    skipped |= {CWD} if isinstance(server, StdioServer) else set()
    skipped -= {"headers"} if _by_name(unknown.get("headers")) is None else set()
    return [name for name in unknown if name not in skipped]
