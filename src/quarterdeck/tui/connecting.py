"""The connection the deck is on: opening it, choosing another one, writing them down, and giving their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.network import origin_of
from quarterdeck.config.connections import Connection
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Span, Tone
from quarterdeck.tui.checking import Verdict, check
from quarterdeck.tui.connections import Connections
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.connection import Filled, KeyChoice, ask_key, edit_connection
from quarterdeck.tui.dialogs.connections import Asking, ConnectionsDialog, Do, Wish
from quarterdeck.tui.kept_state import RunState
from quarterdeck.tui.lists.connections import NOT_OPENED, ConnectionRow, open_state
from quarterdeck.tui.releases import Releases
from quarterdeck.tui.text import Shown

Connect = Callable[[Connection, SecretStr | None], AbstractAsyncContextManager[Client]]
"""Opens a client for a connection; a key of None means the one its configuration names."""


class Connecting:
    """Opens one connection at a time, and asks the person about connections and keys in dialogs."""

    def __init__(
        self,
        app: Deck,
        connect: Connect,
        connections: Connections,
        *,
        state: RunState | None = None,
    ) -> None:
        self.connections = connections
        self.state = state or RunState()
        """What outlives a run."""
        self.releases = Releases(self.state)
        self._app = app
        self._connect = connect
        self._choosing = False
        self._key_refused = False

    # The open connection

    def open(self, endpoint: Connection) -> None:
        """Follow a connection until another one is opened; the one before is closed first."""
        self._app.run_worker(self._follow(self.connections.opened_as(endpoint)), exclusive=True, group="session")

    async def _follow(self, endpoint: Connection) -> None:
        app = self._app
        app.endpoint, app.session, app.trouble = endpoint, None, None
        self._key_refused = False
        app.session_news.publish(News(About.SERVER, moved=True))
        try:
            async with self.client_of(endpoint) as client:
                app.session = Session(client, self._publish, app.clock, self.state, endpoint.about)
                app.run_worker(self.connections.opened(endpoint), group="opened")
                await app.session.run()
        except ServiceError as error:
            app.session, app.trouble = None, error
            app.session_news.publish(News(About.SERVER, moved=True))

    def client_of(self, endpoint: Connection, key: SecretStr | None = None) -> AbstractAsyncContextManager[Client]:
        """Open a client with that key, else with the one typed in this run, else with the one that is kept."""
        return self._connect(endpoint, key or self.connections.typed_key(endpoint))

    def _publish(self, news: News) -> None:
        app = self._app
        release = app.session.server.release if app.session is not None else ""
        if release and release != self.releases.at(app.endpoint):
            app.run_worker(self.releases.saw(app.endpoint, release), group="release")
        if news.wanted is not None:
            app.wanted = news.wanted
        app.session_news.publish(news)
        words = text.line(news.words)
        if words and not app.loaded.is_set():
            app.notices.append(words)  # there is no screen yet that could say it
        elif news.everywhere:
            app.say_on_top(words)
        if news.everywhere and news.call and not app.quiet:
            app.call_person(words)
        if app.session is not None and app.session.server.key_refused and not self._key_refused:
            self._key_refused = True
            app.run_worker(self._ask_for_key(), group="ask for key")

    # Choosing

    async def _ask_for_key(self) -> None:
        await self._app.loaded.wait()
        await self.choose()

    async def choose(self) -> None:
        """Show the connections until one is opened or the person goes back."""
        if not self._choosing:
            self._choosing = True
            self._app.run_worker(self._choose(*await self._known()), group="dialog")

    async def _known(self) -> tuple[Sequence[Connection], Sequence[str]]:
        known, problems = await self.connections.read()
        await self.releases.recall(known)
        return known, problems

    async def _choose(self, known: Sequence[Connection], problems: Sequence[str]) -> None:
        at: Connection | None = self._app.endpoint
        said = self._why_connect()
        try:
            while at is not None:
                asking = Asking(partial(self._rows, known), self.connections.key_source, self._check)
                notes = (*said, *((text.line(f"{problem}."), Tone.WARN) for problem in problems))
                wish = await self._app.push_screen_wait(ConnectionsDialog(asking, at.place, notes))
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
        for words, _ in said:
            self._app.say_on_top(words)

    async def _do(self, wish: Wish, names: Sequence[str]) -> tuple[Connection | None, Sequence[Span]]:
        """Do what is wished; gives the connection to go on with, None to stop here, and what there is to say."""
        endpoint, session = wish.row.connection, self._app.session
        refused = session is not None and session.server.key_refused and self._is_open(endpoint)
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
                self.open(self._app.endpoint)  # unsaved edits stay: they are put on what is read with this key
                return None, said
            case Do.OPEN:
                if not self._is_open(endpoint) or session is None or session.server.trouble is not None:
                    await self._reopen(endpoint)
                return None, ()
        return endpoint, (_why_not(wish.row),)

    async def _fill(
        self, connection: Connection, row: ConnectionRow | None, names: Sequence[str]
    ) -> tuple[Connection, Sequence[Span]]:
        """Have a connection edited, the one of a row or a new one that begins like `connection`, and write it."""
        old = connection
        instead_of = row.connection.name if row is not None else None

        def problem_with(wanted: Connection) -> str | None:
            if wanted.name in names and wanted.name != instead_of:
                return f"There is a connection called {wanted.name} already."
            return self.connections.problem_with(wanted)

        filled = await self._app.push_screen_wait(
            edit_connection(connection, new=row is None, problem_with=problem_with)
        )
        if filled is None:
            return (self._app.endpoint if not old.name else old), ()
        had_key = await self.connections.has_key(old) or self.connections.typed_key(old) is not None
        await self.connections.save(filled.connection, instead_of)
        said = await self._settle_key(old, filled, had_key=had_key)
        new_key = filled.key in (KeyChoice.ENTER, KeyChoice.NONE)
        if self._is_open(old) and filled.connection == connection and filled.key is KeyChoice.ENTER:
            self.open(self._app.endpoint)
        elif self._is_open(old) and (new_key or filled.connection != connection):
            await self._reopen(filled.connection)
        return filled.connection, said

    async def _settle_key(self, old: Connection, filled: Filled, *, had_key: bool) -> Sequence[Span]:
        """Bring the key where the form says; one that is kept for another origin goes along only when confirmed."""
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
            if not await self._app.push_screen_wait(ConfirmDialog(Shown("The address has changed"), question)):
                return ((text.line(f"The key of {was} is not used for {becomes}. K: enter one."), Tone.WARN),)
        await self.connections.move_key(old, new)
        return ()

    async def _delete(self, endpoint: Connection) -> Sequence[Span]:
        lines = (
            ((text.line(f"{endpoint.url} is forgotten, and so is the key kept for it here."), Tone.PLAIN),),
            ((Shown("Nothing changes on the server."), Tone.MUTED),),
        )
        if await self._app.push_screen_wait(ConfirmDialog(text.line(f"Delete the connection {endpoint.name}?"), lines)):
            await self.connections.delete(endpoint)
        return ()

    # Keys

    async def _give_key(self, endpoint: Connection) -> Sequence[Span]:
        """Ask for a key until the server takes one or cannot be asked; nothing to say where the person gave none."""

        async def keep(key: SecretStr) -> bool:
            return await self.connections.keep_key(endpoint, key, in_file=False)

        prove = partial(self._prove, endpoint)
        kept = self.connections.is_kept(endpoint)
        given = await self._app.push_screen_wait(ask_key(endpoint, prove=prove, keep=keep if kept else None))
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
        file = self.connections.key_file
        question = (
            ((Shown("The system keyring is not available."), Tone.WARN),),
            ((text.line(f"Keep the key in {file}, in plain text, open to you alone?"), Tone.STRONG),),
            ((Shown("Without it the key is used until the deck ends."), Tone.MUTED),),
        )
        if not await self._app.push_screen_wait(ConfirmDialog(Shown("Keep the key in a file?"), question)):
            return False
        return await self.connections.keep_key(endpoint, key, in_file=True)

    async def _prove(self, endpoint: Connection, key: SecretStr) -> Verdict:
        return await check(self.client_of(self.connections.opened_as(endpoint), key), with_release=False)

    async def _check(self, connection: Connection) -> Verdict:
        verdict = await check(self.client_of(self.connections.opened_as(connection)))
        await self.releases.saw(connection, verdict.release)
        return verdict

    # What is open

    def _is_open(self, endpoint: Connection) -> bool:
        return endpoint.place == self._app.endpoint.place

    async def _reopen(self, endpoint: Connection) -> None:
        if await self._app.may_leave():
            self.open(endpoint)

    def _rows(self, known: Sequence[Connection]) -> tuple[ConnectionRow, ...]:
        """The known connections, and the open one where it is no longer among them."""
        lost = all(not self._is_open(each) for each in known)
        return tuple(
            ConnectionRow(
                each,
                kept=self.connections.is_kept(each),
                read_only=self.connections.opened_as(each).read_only,
                state=open_state(self._app.session, self._app.trouble) if self._is_open(each) else NOT_OPENED,
                release=text.line(self.releases.at(each)),
            )
            for each in (*known, *((self._app.endpoint,) if lost else ()))
        )

    def _why_connect(self) -> Sequence[Span]:
        if self._app.session is not None and self._app.session.server.key_refused:
            return ((Shown("The server refused the key. K: enter another one."), Tone.BAD),)
        error = self._app.trouble or (self._app.session.server.trouble if self._app.session is not None else None)
        return ((text.line(f"{error.words} {error.advice}"), Tone.WARN),) if error is not None else ()


def _why_not(row: ConnectionRow) -> Span:
    """Why a wish for this connection cannot be done."""
    if row.connection.embedded:
        return Shown("The local service is part of the deck: it has no key or address of yours."), Tone.WARN
    if row.kept:
        return text.line(f"{row.connection.name} is open: open another one before you delete it."), Tone.WARN
    return text.line(f"{row.connection.name} was given by its address: it is written in no file."), Tone.WARN
