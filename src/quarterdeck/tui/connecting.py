"""The connection the deck is on: opening it, saying what happens on it, choosing another one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.config.connections import Connection
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.connections import Connections, Releases
from quarterdeck.tui.dialogs.connections import ConnectionsDialog
from quarterdeck.tui.kept_state import RunState

Connect = Callable[[Connection, SecretStr | None], AbstractAsyncContextManager[Client]]
"""Opens a client for a connection; a key of None means the one its configuration names."""
ANOTHER_SERVER = "Another server answers at this address than before; everything is read anew."


class Connecting:
    """Opens one connection at a time."""

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
        self._key_refused = False
        """Whether that was noticed, and the person asked for another key."""

    def open(self, connection: Connection) -> None:
        """Follow a connection until another one is opened; the one before is closed first."""
        self._app.run_worker(self._follow(self.connections.opened_as(connection)), exclusive=True, group="session")

    def client_of(self, connection: Connection, key: SecretStr | None = None) -> AbstractAsyncContextManager[Client]:
        """Open a client with that key, else with the one typed in this run, else with the one that is kept."""
        connection = self.connections.opened_as(connection)
        return self._connect(connection, key or self.connections.typed_key(connection))

    async def choose(self) -> None:
        """Show the connections, unless they are shown already, and open the one that is chosen."""
        known, problems = await self.connections.read()
        await self.releases.recall(known)
        if not isinstance(self._app.screen, ConnectionsDialog):
            await self._app.push_screen(ConnectionsDialog(known, problems), self._chosen)

    def _chosen(self, connection: Connection | None) -> None:
        if connection is not None:
            self._app.run_worker(self._switch(connection), group="dialog")

    async def _switch(self, connection: Connection) -> None:
        if await self._app.may_leave():
            self.open(connection)

    async def _follow(self, connection: Connection) -> None:
        app = self._app
        app.endpoint, app.session, app.trouble = connection, None, None
        self._key_refused = False
        self._publish(News(About.SERVER, moved=True))
        try:
            async with self.client_of(connection) as client:
                app.session = Session(client, self._publish, app.clock, self.state, connection.about)
                app.run_worker(self.connections.opened(connection), group="opened")
                await app.session.run()
        except ServiceError as error:
            app.session, app.trouble = None, error
            self._publish(News(About.SERVER, moved=True))

    def _publish(self, news: News) -> None:
        app, session = self._app, self._app.session
        if session is not None and session.server.release and session.server.release != self.releases.at(app.endpoint):
            app.run_worker(self.releases.saw(app.endpoint, session.server.release), group="release")
        if news.wanted is not None:
            app.wanted = news.wanted
        for screen in app.opened:
            screen.hear(news)
        words = text.line(ANOTHER_SERVER if news.another_server else news.words)
        if words and not app.loaded.is_set():
            app.notices.append(words)  # there is no screen yet that could say it
        elif words:
            app.say_on_top(words, in_dialogs=news.everywhere)
        if news.call and not app.quiet:
            app.call_person(words)
        if session is not None and session.server.key_refused and not self._key_refused:
            self._key_refused = True
            app.run_worker(self._ask_for_key(), group="ask for key")

    async def _ask_for_key(self) -> None:
        await self._app.loaded.wait()
        await self.choose()
