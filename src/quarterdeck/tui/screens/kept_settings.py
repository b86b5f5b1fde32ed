"""Edits that are not saved yet, kept on this machine in case of a crash, and offered again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from quarterdeck.client.errors import ServiceError
from quarterdeck.settings.changes import restored
from quarterdeck.settings.unsaved import Run
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.dialogs.left_edits import LeftEdits, LeftEditsDialog
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.screens.loaded_settings import LoadedSettings
from quarterdeck.tui.settings.draft_keeper import DraftKeeper
from quarterdeck.tui.settings.words import taken_up_lines
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.client.client import Client
    from quarterdeck.config.connections import Connection


class KeptSettings(LoadedSettings):
    """Keeps the edits, and asks about those that an earlier run left behind."""

    def __init__(self) -> None:
        super().__init__()
        self.keeper = DraftKeeper(self.app.state, self.app.clock, self._not_kept)
        self._to_offer = False
        self._ended = False

    async def on_unmount(self) -> None:
        """Keep the edits that are left: the deck may be ending by a signal."""
        self._ended = True
        await self.keeper.finish()

    def _not_kept(self, error: ServiceError) -> None:
        if not self._ended:
            self.say_error(error)

    def changed(self) -> None:
        """The draft is another one: keep its edits in case of a crash."""
        super().changed()
        if self.endpoint is not None:
            self.keeper.keep(self.endpoint, self.form.draft)

    def load_more(self, client: Client, *, first: bool) -> None:
        """Ask about edits of an earlier run as soon as there is something to put them on."""
        super().load_more(client, first=first)
        self._to_offer |= first
        self.offer()

    def on_screen_resume(self) -> None:
        """The person is here: ask what was to be asked."""
        self.offer()

    def offer(self) -> None:
        """Ask about edits that an earlier run left behind, once for a connection."""
        if self._to_offer and self.loaded and self.is_current:
            self._to_offer = False
            self._offer(asked=False)

    def action_unsaved_edits(self) -> None:
        """Ask about them again."""
        self._offer(asked=True)

    @work(exclusive=True, group="settings-left")
    async def _offer(self, *, asked: bool) -> None:
        endpoint = self.endpoint
        if endpoint is None:
            return
        found = await self.keeper.found(endpoint)
        if not found and asked:
            self.say(Shown("No run before left edits behind for this connection."))
        for name, run in found:
            answer = await self.app.push_screen_wait(LeftEditsDialog(run, self.app.clock()))
            if answer is LeftEdits.DROP:
                await self.keeper.drop(endpoint, name)
            elif answer is LeftEdits.TAKE_UP and endpoint == self.endpoint:
                await self._take_up(endpoint, name, run)
            else:
                self.say(Shown("The edits stay kept; K asks again."))
                return

    async def _take_up(self, endpoint: Connection, name: str, run: Run) -> None:
        found = restored(run, self.form.draft)
        await self.form.change(lambda draft: found.draft)
        await self.keeper.take_over(endpoint, name, self.form.draft)
        self.say(Shown("Taken up; ctrl+s shows the edits, ctrl+z takes them back."), Tone.GOOD)
        said = taken_up_lines(found)
        if said:
            self.app.push_screen(PageDialog(Shown("Edits taken up"), lambda: said))
