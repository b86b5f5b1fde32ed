"""Choosing, writing and checking connections, and giving keys: one conversation of dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import work

from quarterdeck.client.errors import ServiceError
from quarterdeck.config.connections import Connection
from quarterdeck.tui import text
from quarterdeck.tui.cells import Span, Tone
from quarterdeck.tui.connected import ConnectedApp
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.tui.checking import Verdict
    from quarterdeck.tui.dialogs.connection import Filled
    from quarterdeck.tui.dialogs.connections import Wish
    from quarterdeck.tui.lists.connections import ConnectionRow


class ConnectingApp(ConnectedApp):
    """An app whose person can switch between connections, edit them and give their keys."""

    _choosing = False

    async def _may_leave(self) -> bool:
        """Whether nothing unsaved is in the way of leaving the open connection; runs inside a worker."""
        return True

    async def on_connected_app_connection_asked(self) -> None:
        """Ask for a connection or another key."""
        await self.action_connect()

    async def action_connect(self) -> None:
        """Show the connections until one is opened or the person goes back."""
        if not self._choosing:
            self._choosing = True
            self._choose(*await self._known())

    async def _known(self) -> tuple[Sequence[Connection], Sequence[str]]:
        known, problems = await self.connections.read()
        await self.releases.recall(known)
        return known, problems

    @work(group="dialog")
    async def _choose(self, known: Sequence[Connection], problems: Sequence[str]) -> None:
        from quarterdeck.tui.dialogs.connections import Asking, ConnectionsDialog

        at: Connection | None = self.endpoint
        said = self._why_connect()
        try:
            while at is not None:
                asking = Asking(partial(self._rows, known), self.connections.key_source, self._check)
                notes = (*said, *((text.line(f"{problem}."), Tone.WARN) for problem in problems))
                wish = await self.push_screen_wait(ConnectionsDialog(asking, at.place, notes))
                if wish is None:
                    return
                at = wish.row.connection
                try:
                    at, said = await self._do(wish, [connection.name for connection in known])
                except ServiceError as error:
                    said = ((text.line(f"{error.words} {error.advice}"), Tone.BAD),)
                known, problems = await self._known()
        finally:
            self._choosing = False
        self._tell(said)

    async def _do(self, wish: Wish, names: Sequence[str]) -> tuple[Connection | None, Sequence[Span]]:
        """Do what is wished; gives the connection to go on with, None to stop here, and what there is to say."""
        from quarterdeck.tui.dialogs.connections import Do

        endpoint = wish.row.connection
        refused = self.session is not None and self.session.key_refused and self._is_open(endpoint)
        match wish.do:
            case Do.ADD:
                return await self._fill(Connection("", ""), None, names)
            case Do.EDIT if not endpoint.embedded:
                return await self._fill(wish.row.connection, wish.row if wish.row.kept else None, names)
            case Do.DELETE if wish.row.kept and not self._is_open(endpoint):
                return endpoint, await self._delete(endpoint)
            case Do.KEY | Do.OPEN if not endpoint.embedded and (wish.do is Do.KEY or refused):
                said = await self._give_key(endpoint)
                if not (said and self._is_open(endpoint)):
                    return endpoint, said
                self.open_session(self.endpoint)  # unsaved edits stay: they are put on what is read with this key
                return None, said
            case Do.OPEN:
                if not self._is_open(endpoint) or self.session is None or self.session.trouble is not None:
                    await self._reopen(endpoint)
                return None, ()
        return endpoint, (_why_not(wish.row),)

    async def _fill(
        self, connection: Connection, row: ConnectionRow | None, names: Sequence[str]
    ) -> tuple[Connection, Sequence[Span]]:
        """Have a connection edited, the one of a row or a new one that begins like `connection`, and write it."""
        from quarterdeck.tui.dialogs.connection import KeyChoice, edit_connection

        old = connection
        instead_of = row.connection.name if row is not None else None

        def problem_with(wanted: Connection) -> str | None:
            if wanted.name in names and wanted.name != instead_of:
                return f"There is a connection called {wanted.name} already."
            return self.connections.problem_with(wanted)

        filled = await self.push_screen_wait(edit_connection(connection, new=row is None, problem_with=problem_with))
        if filled is None:
            return (self.endpoint if not old.name else old), ()
        had_key = await self.connections.has_key(old) or self.connections.typed_key(old) is not None
        await self.connections.save(filled.connection, instead_of)
        said = await self._settle_key(old, filled, had_key=had_key)
        new_key = filled.key in (KeyChoice.ENTER, KeyChoice.NONE)
        if self._is_open(old) and filled.connection == connection and filled.key is KeyChoice.ENTER:
            self.open_session(self.endpoint)
        elif self._is_open(old) and (new_key or filled.connection != connection):
            await self._reopen(filled.connection)
        return filled.connection, said

    async def _settle_key(self, old: Connection, filled: Filled, *, had_key: bool) -> Sequence[Span]:
        """Bring the key where the form says; one that is kept for another origin goes along only when confirmed."""
        from quarterdeck.client.network import origin_of
        from quarterdeck.tui.dialogs.confirm import ConfirmDialog
        from quarterdeck.tui.dialogs.connection import KeyChoice

        new = filled.connection
        if filled.key is KeyChoice.NONE:
            await self.connections.forget_key(old)
        if filled.key is KeyChoice.ENTER:
            return await self._give_key(new)
        if not had_key or filled.key is KeyChoice.NONE or old.place == new.place:
            return ()
        was, becomes = origin_of(old.url or ""), origin_of(new.url or "")
        if was != becomes:
            question = (
                ((text.line(f"The key belongs to {was}."), Tone.PLAIN),),
                ((text.line(f"Send it to {becomes} from now on?"), Tone.STRONG),),
            )
            if not await self.push_screen_wait(ConfirmDialog(Shown("The address has changed"), question)):
                return ((text.line(f"The key of {was} is not used for {becomes}. K: enter one."), Tone.WARN),)
        await self.connections.move_key(old, new)
        return ()

    async def _delete(self, endpoint: Connection) -> Sequence[Span]:
        from quarterdeck.tui.dialogs.confirm import ConfirmDialog

        lines = (
            ((text.line(f"{endpoint.url} is forgotten, and so is the key kept for it here."), Tone.PLAIN),),
            ((Shown("Nothing changes on the server."), Tone.MUTED),),
        )
        if await self.push_screen_wait(ConfirmDialog(text.line(f"Delete the connection {endpoint.name}?"), lines)):
            await self.connections.delete(endpoint)
        return ()

    # Keys

    async def _give_key(self, endpoint: Connection) -> Sequence[Span]:
        """Ask for a key until the server takes one or cannot be asked; nothing to say where the person gave none."""
        from quarterdeck.tui.dialogs.connection import ask_key

        async def keep(key: SecretStr) -> bool:
            return await self.connections.keep_key(endpoint, key, in_file=False)

        prove = partial(self._prove, endpoint)
        kept = self.connections.is_kept(endpoint)
        given = await self.push_screen_wait(ask_key(endpoint, prove=prove, keep=keep if kept else None))
        if given is None:
            return ()
        if given.kept:
            return ((Shown("The server takes the key. It is kept in the system keyring."), Tone.GOOD),)
        if given.proven and given.to_keep and await self._keep_in_file(endpoint, given.key):
            return ((text.line(f"The server takes the key. It is kept in {self.connections.key_file}."), Tone.GOOD),)
        self.connections.type_key(endpoint, given.key)
        if given.proven:
            return ((Shown("The server takes the key. It is used until the deck ends, and kept nowhere."), Tone.GOOD),)
        return ((Shown("The key could not be verified: it is used until the deck ends, and kept nowhere."), Tone.WARN),)

    async def _keep_in_file(self, endpoint: Connection, key: SecretStr) -> bool:
        from quarterdeck.tui.dialogs.confirm import ConfirmDialog

        file = self.connections.key_file
        question = (
            ((Shown("The system keyring is not available."), Tone.WARN),),
            ((text.line(f"Keep the key in {file}, in plain text, open to you alone?"), Tone.STRONG),),
            ((Shown("Without it the key is used until the deck ends."), Tone.MUTED),),
        )
        if not await self.push_screen_wait(ConfirmDialog(Shown("Keep the key in a file?"), question)):
            return False
        return await self.connections.keep_key(endpoint, key, in_file=True)

    async def _prove(self, endpoint: Connection, key: SecretStr) -> Verdict:
        from quarterdeck.tui.checking import check

        return await check(self.client_of(self.connections.opened_as(endpoint), key), with_release=False)

    async def _check(self, connection: Connection) -> Verdict:
        from quarterdeck.tui.checking import check

        verdict = await check(self.client_of(self.connections.opened_as(connection)))
        await self.releases.saw(connection, verdict.release)
        return verdict

    # The open connection

    def _is_open(self, endpoint: Connection) -> bool:
        return endpoint.place == self.endpoint.place

    async def _reopen(self, endpoint: Connection) -> None:
        if await self._may_leave():
            self.open_session(endpoint)

    def _rows(self, known: Sequence[Connection]) -> tuple[ConnectionRow, ...]:
        """The known connections, and the open one where it is no longer among them."""
        from quarterdeck.tui.lists.connections import NOT_OPENED, ConnectionRow, open_state

        lost = all(not self._is_open(each) for each in known)
        return tuple(
            ConnectionRow(
                each,
                kept=self.connections.is_kept(each),
                read_only=self.connections.opened_as(each).read_only,
                state=open_state(self.session, self.trouble) if self._is_open(each) else NOT_OPENED,
                release=text.line(self.releases.at(each)),
            )
            for each in (*known, *((self.endpoint,) if lost else ()))
        )

    def _why_connect(self) -> Sequence[Span]:
        if self.session is not None and self.session.key_refused:
            return ((Shown("The server refused the key. K: enter another one."), Tone.BAD),)
        error = self.trouble or (self.session.trouble if self.session is not None else None)
        return ((text.line(f"{error.words} {error.advice}"), Tone.WARN),) if error is not None else ()

    def _tell(self, said: Sequence[Span]) -> None:
        """Show sentences in the message line of the screen."""
        from quarterdeck.tui.screens.base import DeckScreen

        if said and isinstance(self.screen, DeckScreen):
            words, tone = said[0]
            self.screen.say(words, tone)


def _why_not(row: ConnectionRow) -> Span:
    """Why a wish for this connection cannot be done."""
    if row.connection.embedded:
        return Shown("The local service is part of the deck: it has no key or address of yours."), Tone.WARN
    if row.kept:
        return text.line(f"{row.connection.name} is open: open another one before you delete it."), Tone.WARN
    return text.line(f"{row.connection.name} was given by its address: it is written in no file."), Tone.WARN
