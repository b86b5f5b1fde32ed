"""The facts of one connection, and how its key is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Label, Select

from quarterdeck.config.connections import Colour, Connection
from quarterdeck.tui import text
from quarterdeck.tui.colours import mark
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.toggle import Toggle

NO_COLOUR = ""


class KeyChoice(StrEnum):
    """Where the key of a connection is to come from."""

    KEEP = "as it is"
    VARIABLE = "environment variable"
    ENTER = "enter one now"
    NONE = "none"


@dataclass(frozen=True)
class Filled:
    """A connection as it shall be."""

    connection: Connection
    key: KeyChoice


class ConnectionForm(Dialog[Filled]):
    """Edit a connection, or fill in a new one; a key is never typed here, only where it comes from."""

    CSS_PATH = ["dialog.tcss", "connections.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "accept", "Save", show=False, priority=True)]
    HINTS = (("^s", "save"), ("tab", "next field"), ("esc", "cancel"))

    def __init__(self, connection: Connection, *, new: bool, problem_with: Callable[[Connection], str | None]) -> None:
        super().__init__(Shown("New connection") if new else text.line(f"Connection {connection.name}"))
        self._connection = connection
        self._new = new
        self._problem_with = problem_with

    def body(self) -> Iterable[Widget]:
        """The fields."""
        endpoint = self._connection
        colours = [(mark(None) + "none", NO_COLOUR), *((mark(each) + each.value, each.value) for each in Colour)]
        headers = [(Shown("X-Session-API-Key"), "session"), (Shown("Authorization: Bearer"), "bearer")]
        yield _pair(
            _field("Name", Input(endpoint.name, placeholder="work", id="name")),
            _field("Colour", Select(colours, value=endpoint.colour or NO_COLOUR, allow_blank=False, id="colour")),
        )
        yield _field("Address", Input(endpoint.url or "", placeholder="https://agents.example.org", id="address"))
        yield _pair(
            _field("The key is sent as", Select(headers, value=endpoint.header, allow_blank=False, id="header")),
            _field("", Toggle(Shown("Read-only: change nothing there"), on=endpoint.read_only)),
        )
        placeholder = "~/team-ca.pem; empty: what is trusted everywhere"
        yield _field("CA file for https, PEM", Input(endpoint.ca_file or "", placeholder=placeholder, id="ca-file"))
        yield _pair(
            _field("Key", Select(self._key_choices(), value=self._key_now(), allow_blank=False, id="key")),
            _field("Its name", Input(self._connection.key_env or "", placeholder="WORK_KEY", id="variable")),
        )

    def _key_choices(self) -> list[tuple[Shown, KeyChoice]]:
        keep = () if self._new else (KeyChoice.KEEP,)
        return [
            (Shown(choice.value), choice) for choice in (*keep, KeyChoice.ENTER, KeyChoice.VARIABLE, KeyChoice.NONE)
        ]

    def _key_now(self) -> KeyChoice:
        if self._connection.key_env is not None:
            return KeyChoice.VARIABLE
        return KeyChoice.ENTER if self._new else KeyChoice.KEEP

    @on(Select.Changed, "#key")
    def _show_variable(self, event: Select.Changed) -> None:
        """The name of a variable is asked for only where there is one."""
        field = self.query_one("#variable", Input).parent
        if isinstance(field, Widget):
            field.visible = event.value == KeyChoice.VARIABLE

    def on_input_submitted(self) -> None:
        """Enter in a field saves."""
        self.action_accept()

    def action_accept(self) -> None:
        """Answer with the connection, if it can be one."""
        key = KeyChoice(str(self.query_one("#key", Select).value))
        colour = str(self.query_one("#colour", Select).value)
        connection = Connection(
            self._typed("name"),
            self._typed("address").rstrip("/"),
            "bearer" if self.query_one("#header", Select).value == "bearer" else "session",
            self.query_one(Toggle).on,
            self._typed("ca-file") or None,
            Colour(colour) if colour else None,
            self._typed("variable") if key is KeyChoice.VARIABLE else None,
        )
        problem = self._problem_with(connection) or _problem_with_file(connection.ca_file)
        if problem is None:
            self.dismiss(Filled(connection, key))
        else:
            self.complain(text.line(problem))

    def _typed(self, field: str) -> str:
        return self.query_one(f"#{field}", Input).value.strip()


def _problem_with_file(ca_file: str | None) -> str | None:
    if ca_file is None or Path(ca_file).expanduser().is_file():
        return None
    return "The CA file is not there: give the whole path of a PEM file, or leave it empty."


def _field(label: str, widget: Widget) -> Vertical:
    if isinstance(widget, Select):
        widget.compact = True
    return Vertical(Label(label, markup=False), widget)


def _pair(left: Widget, right: Widget) -> Horizontal:
    return Horizontal(left, right)
