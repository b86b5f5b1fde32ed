"""The marks of one session, fed with readings."""

import asyncio
from contextlib import suppress
from datetime import datetime

from quarterdeck.client.client import Client
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.config.connections import Connection
from quarterdeck.fleet.watch import Watch
from quarterdeck.tui.live.sources import ConversationSource
from quarterdeck.tui.live.unseen_marks import KIND, UnseenMarks
from quarterdeck.tui.notes import Notes
from tests.fleet.fakes import at

PROD = Connection("prod", "http://server.test")


def talk(name: str, agent: str) -> Conversation:
    return Conversation(id=name, sandbox_status="RUNNING", execution_status=agent, updated_at=at(0))


async def test_work_is_noted_as_of_the_last_reading_also_where_that_told_nothing_new() -> None:
    notes = Notes()
    now: list[datetime] = [at(0)]
    watch = Watch(ConversationSource(Client(PROD.url or "")), lambda changes: None)
    marks = UnseenMarks(notes, PROD, watch, {}, lambda news: None, lambda: now[-1])
    running = asyncio.create_task(marks.run())
    records = [talk("busy", "running"), talk("done", "finished")]
    while not marks.read(records, {"busy", "done"}):
        await asyncio.sleep(0)
    now.append(at(9))
    assert not marks.read(records, frozenset())
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    note = await notes.read(KIND, PROD)
    assert note["conversations"]["busy"][1] == at(9).timestamp()
