"""Stores unsaved edits in a state file while they are made, in case the deck ends without asking about them."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex

from quarterdeck.client.errors import ServiceError
from quarterdeck.settings.changes import KeptChanges, not_stored, restored
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.kept import Run, UnsavedEdits
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.processes import is_running, this_process
from quarterdeck.tui.settings import words
from quarterdeck.tui.settings.record import Record
from quarterdeck.tui.widgets.form.form import SettingsForm

STORED_AFTER = 1.0
"""Seconds from an edit to its storing, so that a typed word is stored once."""
NONE_LEFT = "No edits were left behind for this connection."


@dataclass(eq=False)
class KeptEdits:
    """Stores the form's edits, and asks about those that were left behind.

    `keep` does not delay a key press: writing happens later, one write after another.
    """

    app: Deck
    record: Record
    form: SettingsForm
    say: Callable[[str, Tone], None]
    none_left: bool = False
    """Whether it is known that no edits were left behind."""
    _run: str = field(default_factory=partial(token_hex, 8))
    _drafts: dict[str, Draft] = field(default_factory=dict)
    """The last draft for each server for which this run has or had edits."""
    _hurried: asyncio.Event = field(default_factory=asyncio.Event)
    _writing: asyncio.Task[None] | None = None

    def keep(self) -> None:
        """Store the current edits in place of the previous ones; without edits, the stored ones are deleted."""
        about, draft = self.record.endpoint.about, self.form.draft
        if not draft.edited and about not in self._drafts:
            return
        self._drafts[about] = draft
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_soon())

    async def finish(self) -> None:
        """Leave unsaved edits for the next run: the deck may be ending by a signal."""
        self.say = lambda sentence, tone: None
        await self.leave()

    async def leave(self) -> bool:
        """Leave unsaved edits as those of a run that has ended; returns False if that failed, which is said."""
        self._hurried.set()
        if self._writing is not None:
            await self._writing
        self._hurried.clear()
        stored = [await self._change(about, partial(self._left, draft)) for about, draft in self._drafts.items()]
        if all(stored):
            self._drafts, self._run, self.none_left = {}, token_hex(8), False
        return all(stored)

    async def find(self) -> Sequence[tuple[str, Run]]:
        """Return what was left behind; nothing if it cannot be read, which is then said."""
        self.none_left = False
        try:
            found = (await self.app.state.read(UnsavedEdits, self.record.endpoint.about)).left_behind(is_running)
        except ServiceError as error:
            self.say(error.sentences, Tone.BAD)
            return ()
        self.none_left = not found
        return found

    def action_unsaved_edits(self) -> None:
        """Ask about edits that were left behind."""
        self.form.run_worker(self._offer(), exclusive=True, group="settings-left")

    async def _offer(self) -> None:
        endpoint, found = self.record.endpoint, await self.find()
        for name, run in found:
            left, when = not_stored(run, self.form.draft.discard()), words.when(run.at, self.app.clock())
            if not left.count:
                await self._change(endpoint.about, partial(UnsavedEdits.without_run, name=name))
                self.say(f"The edits from {when} are stored.", Tone.PLAIN)
                continue
            answer = await self.app.push_screen_wait(words.left_edits_dialog(left.count, when))
            if answer is False:
                await self._change(endpoint.about, partial(UnsavedEdits.without_run, name=name))
            elif answer and endpoint == self.record.endpoint:
                await self._restore(endpoint.about, name, left)
            else:
                self.say("The edits stay kept; f2 has them restored.", Tone.PLAIN)
                return
        await self.find()

    async def _restore(self, about: str, name: str, left: KeptChanges) -> None:
        """Restore the edits, and mark the stored ones as this run's, in one step."""
        before = self.form.draft
        found = restored(left, before)
        changed = await self.form.take_over(found.draft)
        draft = self.form.draft
        await self._change(about, lambda kept: self._with(draft, kept.without_run(name)))
        if changed:
            self.say("Restored; ctrl+s shows the edits, ctrl+z takes them back.", Tone.GOOD)
        else:
            self.say("There is nothing to restore.", Tone.PLAIN)
        said = words.restored_lines(found, before)
        if said:
            await self.app.push_screen_wait(PageDialog("Edits restored", said))

    # The stored edits

    async def _write_soon(self) -> None:
        written: dict[str, Draft] = {}
        while written != self._drafts:
            with suppress(TimeoutError):
                async with asyncio.timeout(STORED_AFTER):
                    await self._hurried.wait()
            written = dict(self._drafts)
            for about, draft in written.items():
                await self._change(about, partial(self._with, draft))

    def _with(self, draft: Draft, kept: UnsavedEdits) -> UnsavedEdits:
        """Return the new contents of the file; called in a thread."""
        if not draft.edited:
            return kept.without_run(self._run)
        return kept.with_run(self._run, draft, self.app.clock(), this_process())

    def _left(self, draft: Draft, kept: UnsavedEdits) -> UnsavedEdits:
        return (kept if self._run in kept.runs else self._with(draft, kept)).ended(self._run)

    async def _change(self, about: str, change: Callable[[UnsavedEdits], UnsavedEdits]) -> bool:
        """Change the file of a server; returns False if that failed, which is said."""
        try:
            await self.app.state.change(UnsavedEdits, about, change)
        except ServiceError as error:
            self.say(error.sentences, Tone.BAD)
            return False
        return True
