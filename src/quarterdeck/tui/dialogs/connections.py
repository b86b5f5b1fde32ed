"""The dialog of all connections: which is open, its state, where its key is, and commands for connections and keys."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len
from textual import work
from textual.content import Content
from textual.widgets import OptionList

from quarterdeck.client.network import origin_of, sends_in_clear
from quarterdeck.config import connections, edit
from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError
from quarterdeck.fleet.health import HealthState
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Span, Tone, cell
from quarterdeck.tui.columns.details import fact, text_fact
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.connections import Verdict, check
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.connection import HEADERS, Filled, KeyChoice, ask_key, edit_connection, moves_key
from quarterdeck.tui.dialogs.pick import Item, PickDialog
from quarterdeck.tui.paint import content, mark
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.choices import Hanging
from quarterdeck.tui.widgets.strips import fit_cell

ASKING = Verdict((Shown("asking…"), Tone.BUSY))
EMBEDDED = "The local service is part of the deck: it has no key or address of yours."
PLAIN_HTTP = "http:// to another machine: the key can be read on the way"
NOT_KEPT = "no: it was given by its address; e gives it a name"
CHANGING = "The last change is still under way; a moment."
KEYRING_SILENT = "if the system keyring has its key, that stays there; it is locked, or does not answer."
CHANGED_SINCE = "no: it was changed in connections.toml since it was opened"
NAME, STATE, READ_ONLY = 17, 12, 10
"""Cells of the columns, at most; the address gets the remaining cells, as far as it needs them."""
GAP = 3
"""Cells between the longest address and the next column."""
WIDE, EDGES = 112, 5
"""Cells of a wide dialog, and of its border and padding."""
HEALTH = {
    HealthState.REFUSED: cell("key needed", Tone.BAD),
    HealthState.OFFLINE: cell("offline", Tone.BAD),
    HealthState.DEGRADED: cell("not live", Tone.WARN),
    HealthState.ONLINE: cell("live", Tone.GOOD),
    HealthState.LOADING: cell("opening…", Tone.BUSY),
}
"""The state of the open connection."""


class ConnectionsDialog(PickDialog[Connection]):
    """Lists connections and changes them; dismisses with the connection to open."""

    BINDINGS = bindings({"a": "add", "e": "edit", "K": "key", "t": "check", "d,D": "delete"})

    def __init__(self, known: Sequence[Connection], problems: Sequence[str]) -> None:
        self._connections, self._problems = known, problems
        self._keys: dict[Connection, str] = {}
        """Where the key of each is, once found."""
        self._verdicts: dict[Connection, Verdict] = {}
        self._changing = asyncio.Lock()
        hints = (("a", "add"), ("e", "edit"), ("K", "enter key"), ("t", "check"), ("D", "delete"))
        super().__init__(
            "Connections", self._lines, take="open", leave="close", about=self._facts, wide=True, hints=hints
        )

    def on_mount(self) -> None:
        """Begin at the open connection, and find out where the keys are."""
        self._go_to(self.app.endpoint)
        self._find_keys()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self.call_after_refresh(self.renew)

    # What is shown

    def _is_open(self, connection: Connection) -> bool:
        return connection.place == self.app.endpoint.place

    def _as_open(self, connection: Connection) -> Connection:
        """Return a connection as it is open, or as it would be opened."""
        return self.app.endpoint if self._is_open(connection) else self.app.connections.opened_as(connection)

    def _is_changed(self, connection: Connection) -> bool:
        """Whether a connection is open otherwise than it would be opened now."""
        now, is_open = self.app.connections.opened_as(connection), self._as_open(connection)
        return connections.members(now) != connections.members(is_open)

    @property
    def _known(self) -> Sequence[Connection]:
        """The known connections, and the open one if it is not among them."""
        known, is_open = self._connections, replace(self.app.endpoint, remarks=())
        return known if any(map(self._is_open, known)) else (*known, is_open)

    def _lines(self) -> list[Item[Connection]]:
        """Return what is to be known first, and a line for each connection."""
        known = self._known
        width = self._list.scrollable_content_region.width or min(self.app.size.width, WIDE) - EDGES
        name = min(NAME, max(cell_len(text.line(each.name)) for each in known))
        read_only = READ_ONLY if any(self._as_open(each).read_only for each in known) else 0
        self._room = max(8, width - 2 - name - 1 - STATE - read_only)
        address = min(self._room, GAP + max(cell_len(_address(each)) for each in known))

        def line(each: Connection) -> Cell:
            is_read_only = "read-only" if self._as_open(each).read_only else ""
            return (
                *fit_cell(cell(each.name, Tone.STRONG), name),
                (Shown(" "), Tone.PLAIN),
                *fit_cell(((text.end_of(_address(each), address - 1), Tone.PLAIN),), address),
                *fit_cell(self._health_of(each), STATE),
                *fit_cell(cell(is_read_only, Tone.WARN), read_only),
            )

        above = [Item[Connection](each, None) for each in self._first_lines()]
        return [*above, *(Item(line(each), each) for each in known)]

    def _go_to(self, connection: Connection) -> None:
        """List what is there by now, with the cursor on a connection, or where it was if that one is gone."""
        self.renew()
        places = [item.value.place if item.value is not None else None for item in self._listed]
        if connection.place in places:
            with self.prevent(OptionList.OptionHighlighted):  # what was said stays: nobody moved it
                self._list.highlighted = places.index(connection.place)
            self._show_about()

    def prompt(self, item: Item[Connection]) -> Content | Hanging:
        """Return the line of a connection behind its colour."""
        return super().prompt(item) if item.value is None else mark(item.value.colour) + content(item.line)

    def _health_of(self, connection: Connection) -> Cell:
        """Return the state of a connection, in one or two words."""
        session = self.app.session
        if not self._is_open(connection):
            return cell("not opened", Tone.MUTED)
        if session is None:
            return HEALTH[HealthState.LOADING] if self.app.trouble is None else cell("cannot open", Tone.BAD)
        if session.server.key_refused:
            return HEALTH[HealthState.REFUSED]
        if session.server.trouble is not None:
            return HEALTH[HealthState.OFFLINE]
        both = session.sandboxes.health, session.conversations.health  # the hidden list is read seldom
        return HEALTH[max(both, key=lambda health: health.read_at or 0.0).state]

    def _facts(self, connection: Connection) -> Iterator[Cell]:
        """Yield everything about one connection."""
        where = self._keys.get(connection)
        if cell_len(_address(connection)) >= self._room:
            yield text_fact("address", _address(connection))
        yield text_fact("key", "looking for it…" if where is None else where)
        if remarks := connection.remarks:
            number = f"remark 1 of {len(remarks)}: " if len(remarks) > 1 else ""
            yield text_fact("file", f"{number}{remarks[0]}.", Tone.WARN)
        if not connection.embedded:
            yield text_fact("sent as", HEADERS[connection.header])
        if self._as_open(connection).read_only:
            yield text_fact("read-only", "nothing is changed on the server")
        if connection.ca_file is not None:
            yield text_fact("CA file", connection.ca_file)
        session = self.app.session
        if session is not None and session.server.release and self._is_open(connection):
            yield text_fact("release", session.server.release)
        if connection.url is not None and sends_in_clear(connection.url):
            yield text_fact("careful", PLAIN_HTTP, Tone.WARN)
        if not (connection.kept or connection.embedded):
            yield text_fact("kept", NOT_KEPT, Tone.WARN)
        elif connection not in self._connections or self._is_changed(connection):
            yield text_fact("kept", CHANGED_SINCE, Tone.WARN)
        if (verdict := self._verdicts.get(connection)) is not None:
            yield fact("check", verdict.said)

    def _first_lines(self) -> list[Cell]:
        """Return why the open connection does not answer, how much is wrong in the file, and an empty line."""
        session, problems = self.app.session, self._problems
        said: list[Cell] = []
        if session is not None and session.server.key_refused:
            said.append(cell("The key is missing or not the right one. K: enter it.", Tone.BAD))
        elif error := self.app.trouble or (session.server.trouble if session is not None else None):
            said.append(cell(error.sentences, Tone.WARN))
        folder = f"{self.app.connections.file.parent}/"
        said += [cell(f"{problem.removeprefix(folder)}.", Tone.WARN) for problem in problems[:1]]
        if (count := len(problems) + sum(len(each.remarks) for each in self._connections)) > len(problems[:1]):
            said.append(cell(f"Remarks on the file: {count}; `quarterdeck doctor` says all.", Tone.WARN))
        return [*said, EMPTY] if said else []

    @work(exclusive=True, group="keys")
    async def _find_keys(self) -> None:
        for each in self._known:
            self._keys[each] = await self.app.connections.keys.source(each)
            self._show_about()

    # Open, check, delete

    def take(self, value: Connection) -> None:
        """Open a connection; one whose key was refused gets another key first."""
        session = self.app.session if self._is_open(value) else None
        if session is not None and session.server.key_refused:
            self.action_key()
        elif session is not None and session.server.trouble is None and not self._is_changed(value):
            self.dismiss(None)
        else:
            self.app.forget_messages()
            self.dismiss(value)

    @work(group="check")
    async def action_check(self) -> None:
        """Check the server under the cursor and its key; nothing is changed."""
        connection = self.value
        if connection is None or self._verdicts.get(connection) is ASKING:
            return
        self._verdicts[connection] = ASKING
        self._show_about()
        self._verdicts[connection] = await check(self.app.connections.client_of(connection))
        self._find_keys()

    def action_delete(self) -> None:
        """Delete a connection and its key."""
        self._change(self._delete, self.value)

    async def _delete(self, connection: Connection) -> Connection | None:
        if not connection.kept:
            self.say(f"{connection.name} was given by its address: it is written in no file.", Tone.WARN)
            return None
        if self._is_open(connection):
            self.say(f"{connection.name} is open: open another one before you delete it.", Tone.WARN)
            return None
        said = (
            cell(f"{connection.url} is forgotten, and so is the key kept for it here."),
            cell("Nothing changes on the server.", Tone.MUTED),
        )
        question = ConfirmDialog(f"Delete the connection {connection.name}?", said)
        if not await self.app.push_screen_wait(question):
            return None
        await self._forget_key(connection)  # first: what cannot be deleted must stay in sight
        await asyncio.to_thread(edit.delete_table, self.app.connections.file, connections.TABLE, connection.name)
        return connection

    async def _forget_key(self, connection: Connection) -> None:
        if not await self.app.connections.keys.forget(connection):
            self.say(f"{connection.name}: {KEYRING_SILENT}", Tone.WARN)

    @work(group="change")
    async def _change(
        self, change: Callable[[Connection], Awaitable[Connection | None]], connection: Connection | None
    ) -> None:
        """Ask about a change and carry it out, then show the current connections; without one, there is none to change.

        `change` returns where the cursor goes, None if nothing was changed. It may ask more than once, so there is only
        one at a time: what is typed here in between would answer.
        """
        if connection is None:
            return
        if self._changing.locked() or connection.embedded:
            self.say(CHANGING if self._changing.locked() else EMBEDDED, Tone.WARN)
            return
        self.complain(None)
        async with self._changing:
            try:
                at = await change(connection)
            except ConfigError as error:
                self.complain(error.sentence)
                at = connection
        if at is not None:
            self._connections, self._problems = await self.app.connections.read()
            self._go_to(at)
            self._find_keys()

    # Add and edit

    def action_add(self) -> None:
        """Add a connection."""
        self._change(self._edit, Connection("", ""))

    def action_edit(self) -> None:
        """Edit the connection; one that is in no file is added."""
        self._change(self._edit, self.value)

    async def _edit(self, old: Connection) -> Connection | None:
        taken = {each.name for each in self._known if each.kept} - ({old.name} if old.kept else set())
        file, before = self.app.connections.file, old if old.kept else None

        async def write(filled: Filled) -> Filled:
            moves = await moves_key(self.app, old, filled)
            await asyncio.to_thread(edit.save_connection, file, filled.connection, before)
            return replace(filled, moves_key=moves)

        filled = await self.app.push_screen_wait(edit_connection(old, taken, write))
        return None if filled is None else await self._saved(old, filled)

    async def _saved(self, old: Connection, filled: Filled) -> Connection:
        """Set the key as chosen, and open the connection again if it is open."""
        keys, new, was_open = self.app.connections.keys, filled.connection, self._is_open(old)
        if filled.key is KeyChoice.NONE:
            await self._forget_key(old)
        else:
            await keys.move(old, new, along=bool(filled.moves_key))
        if filled.moves_key is False:
            was, becomes = origin_of(old.url or ""), origin_of(new.url or "")
            self.say(f"The key of {was} is not used for {becomes}. K: enter one.", Tone.WARN)
        said = await ask_key(self.app, new, self.say) if filled.key is KeyChoice.ENTER else None
        if was_open and (old != new or said is not None or filled.key is KeyChoice.NONE):
            self._open_anew(new, said)
        elif said is not None:
            self.say(*said)
        return new

    def _open_anew(self, connection: Connection, said: Span | None) -> None:
        """Open a connection; this dialog closes if a message or question must be shown."""
        if said is not None or self.app.edits:
            self.dismiss(None)
        self.app.connecting.switch(connection)
        if said is not None:
            self.app.say_on_top(said[0])

    def action_key(self) -> None:
        """Enter another key."""
        self._change(self._give_key, self.value)

    async def _give_key(self, connection: Connection) -> Connection | None:
        said = await ask_key(self.app, connection, self.say)
        if said is None:
            return None
        if self._is_open(connection):
            self._open_anew(connection, said)
        else:
            self.say(*said)
        return connection


def _address(connection: Connection) -> Shown:
    return text.line(connection.url or "inside this deck")
