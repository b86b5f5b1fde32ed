"""What is known of sandboxes and start tasks beyond their readings, and outlives a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandboxes import short_id
from quarterdeck.fleet.timeline import KeptTimelines
from quarterdeck.tui.live import put_away
from quarterdeck.tui.live.carrying import SELDOM, Carried, Carrying
from quarterdeck.tui.live.displacing import Displacing, displaced_words
from quarterdeck.tui.live.news import About, News
from quarterdeck.tui.live.put_away import PutAway

if TYPE_CHECKING:
    from quarterdeck.client.errors import ServiceError
    from quarterdeck.config.connections import Connection
    from quarterdeck.tui.notes import Notes


class Remembered:
    """The memories of one session; `publish` is told what earlier runs add to them."""

    def __init__(self, notes: Notes, endpoint: Connection, publish: Callable[[News], None]) -> None:
        self.memories = SandboxMemories()
        self.displacing = Displacing()
        self.dismissed = PutAway()
        self._publish = publish
        timelines = self.memories.timelines
        carried = (
            Carried("timelines", timelines.recall, lambda: _noting(timelines.merge()), reads=_kept),
            Carried("displacement", self._recall_displacement, lambda: self.displacing.to_note),
            Carried(put_away.KIND, self._recall_put_away, self.dismissed.noting),
        )
        self._carrying = Carrying(notes, endpoint, carried, self._not_carried, rhythm=SELDOM)

    async def run(self) -> None:
        """Read what was noted earlier, and note down what changes, until cancelled."""
        await self._carrying.run()

    def changed(self) -> None:
        """Say that there is something new to note down."""
        self._carrying.changed()

    def put_away(self, task_ids: Iterable[str]) -> None:
        """Remember that these start tasks are not to be shown."""
        self.dismissed.add(task_ids)
        self.changed()

    def find_displaced(self, now: datetime, title_in: Callable[[str], str | None]) -> None:
        """Look whether something stopped to make room; `title_in` gives the title of a conversation in a sandbox."""
        before = self.displacing.cap
        for displaced in self.displacing.read(self.memories.by_id, now):
            self.memories.timelines.displaced(displaced.ids, short_id(displaced.by), now)
            words = displaced_words(displaced, title_in)
            self._publish(News(About.SANDBOXES, frozenset(displaced.ids), words=words))
        if self.displacing.cap != before:
            self.changed()

    def _recall_displacement(self, note: Any) -> None:
        self.displacing.recall(note)
        self._publish(News(About.SANDBOXES))

    def _recall_put_away(self, note: Any) -> None:
        self.dismissed.recall(note)
        self._publish(News(About.START_TASKS, self.dismissed.ids))

    def _not_carried(self, error: ServiceError) -> None:
        words = f"What happens to sandboxes is not noted down for the next run: {error.words} {error.advice}"
        self._publish(News(About.SANDBOXES, words=words))


def _kept(note: Any) -> KeptTimelines | None:
    try:
        return KeptTimelines.model_validate(note)
    except ValidationError:
        return None


def _noting(merge: Callable[[KeptTimelines | None], KeptTimelines | None]) -> Callable[[Any], Any]:
    def noted(note: Any) -> Any:
        kept = merge(_kept(note))
        return None if kept is None else kept.model_dump(mode="json")

    return noted
