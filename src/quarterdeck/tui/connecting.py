"""The current connection: opening it, reporting what happens on it, and choosing another one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from quarterdeck.client.errors import ServiceError
from quarterdeck.config import edit
from quarterdeck.config.connections import LOCAL_NAME, Connection
from quarterdeck.config.files import ConfigError
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.conversation.drafts import Drafts
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.bulk import leave_job_dialog
from quarterdeck.tui.dialogs.connections import ConnectionsDialog

KEY_REFUSED = "The key is missing or wrong: K in the connections (c) gives one."


class Connecting:
    """Opens one connection at a time."""

    def __init__(self, app: Deck, preferences: Path, *, by_choice: bool = True) -> None:
        self._app = app
        self._preferences = preferences
        self._by_choice = by_choice
        """Whether a person chose the connection: only then it is remembered."""
        self._key_refused = False
        """Whether a refused key was noticed and the person was asked for another one."""

    def open(self, connection: Connection) -> None:
        """Follow a connection until another one is opened; the previous one is closed first."""
        self._app.run_worker(self._follow(self._app.connections.opened_as(connection)), exclusive=True, group="session")

    async def choose(self) -> None:
        """Show the connections, unless they are already shown, and open the one that is chosen."""
        await self._show(*await self._app.connections.read())

    async def _show(self, known: Sequence[Connection], problems: Sequence[str]) -> None:
        if not any(isinstance(screen, ConnectionsDialog) for screen in self._app.screen_stack):
            await ask(self._app, ConnectionsDialog(known, problems), self.switch)

    def switch(self, connection: Connection) -> None:
        """Open a connection, after a question about a bulk job, and about unsaved edits if it is at another address."""
        self._app.run_worker(self._switch(connection), group="dialog")

    async def _switch(self, connection: Connection) -> None:
        before, session = self._app.endpoint, self._app.session
        await self._app.wait_for_writes(f"then {connection.name} is opened")
        stays = connection.place == before.place
        if await (self.may_end_job() if stays else self._app.may_leave()):
            self._by_choice = True
            self.open(connection)
            if session is not None and (left := ", ".join(session.writes.words)):
                words = f"{before.name} was left without the answer to: {left}; look there whether it happened."
                self._app.say_on_top(words)

    async def may_end_job(self) -> bool:
        """Ask whether to give up the rest of a running bulk job, if there is one. Runs inside a worker."""
        job = self._app.running_job
        return job is None or await self._app.push_screen_wait(leave_job_dialog(job)) is True

    async def _follow(self, connection: Connection) -> None:
        app = self._app
        app.endpoint, app.session, app.trouble = connection, None, None
        self._key_refused = False
        self._publish(News(About.SERVER, all_rows=True))
        try:
            async with app.connections.client_of(connection) as client:
                app.drafts = Drafts(app.state, connection.about, app.say_on_top)
                app.session = Session(client, self._publish, app.clock, app.state, connection.about)
                app.connected.set()
                if self._by_choice and (connection.kept or connection.embedded):
                    self.remember(last_connection=LOCAL_NAME if connection.embedded else connection.name)
                await app.session.run()
        except ServiceError as error:
            app.session, app.trouble = None, error
            app.connected.set()
            self._publish(News(About.SERVER, all_rows=True))

    def remember(self, **what: str) -> None:
        """Save a choice for the next run; if that fails, it is reported when the deck has ended."""
        self._app.run_worker(self._remember(what), group="remember")

    async def _remember(self, what: Mapping[str, str]) -> None:
        try:
            await asyncio.to_thread(edit.remember, self._preferences, what)
        except ConfigError as error:
            self._app.exit_messages[str(error)] = None

    def _publish(self, news: News) -> None:
        app, session = self._app, self._app.session
        if news.wanted is not None and app.wanted is not None:
            app.wanted = news.wanted
        for screen in app.opened:
            screen.call_later(screen.on_news, news)
        if news.another_server:
            self.open(app.endpoint)  # nothing that was read is true of it
        words = text.line(news.words)
        if words and not app.loaded.is_set():
            app.notices.append(words)  # there is no screen yet that could show it
        elif words:
            app.say_on_top(words, in_dialogs=news.everywhere)
        if news.call and not app.quiet:
            app.call_person(words)
        if session is not None and session.server.key_refused and not self._key_refused:
            self._key_refused = True
            app.run_worker(self._ask_for_key(), group="ask for key")

    async def _ask_for_key(self) -> None:
        """Show the connections, unless a text field has the focus: what is typed there would become commands."""
        app = self._app
        await app.loaded.wait()
        found = await self._app.connections.read()
        if app.screen.is_modal or (app.focused is not None and app.focused.check_consume_key("c", "c")):
            app.say_on_top(KEY_REFUSED, in_dialogs=not isinstance(app.screen, ConnectionsDialog))  # it says so itself
        else:
            await self._show(*found)
