"""Variables or headers of an MCP server: rows of name and value, of which values are never shown."""

from collections import Counter
from collections.abc import Mapping

from pydantic import SecretStr
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from quarterdeck.settings.mcp_server import is_hidden
from quarterdeck.tui import text
from quarterdeck.tui.widgets.settings.line_input import LineInput


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

    @on(LineInput.Changed, "#variable-name")
    def _split_assignment(self, event: LineInput.Changed) -> None:
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

    @on(LineInput.Changed)
    def _keep_one_empty(self) -> None:
        if self.query(VariableRow).last().variable is not None:
            self.mount(VariableRow(separator=self._separator))


def _placeholder(kept: SecretStr | None) -> str:
    if kept is None:
        return "value"
    return "type it again" if is_hidden(kept) else "•••• kept; type to replace"
