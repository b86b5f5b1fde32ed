"""What is done to conversations: asked about in a dialog, sent, and said. Each runs inside a worker of their screen.

Nothing of this is needed for the first frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.fleet.bulk import CONVERSATIONS, Order, listed_verdict, plan
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandbox_state import StateWord
from quarterdeck.tui import files, text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.dialogs.confirm import TypedConfirmDialog
from quarterdeck.tui.dialogs.conversation import new_conversation, rename_conversation
from quarterdeck.tui.files import FileRefusedError
from quarterdeck.tui.text import Shown
from quarterdeck.tui.written_text import choose_file

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session
    from quarterdeck.tui.screens.conversations import ConversationsScreen

TRAJECTORY: tuple[Cell, ...] = (
    cell(Shown("All that happened in the conversation, as a zip file that the server makes.")),
    cell(Shown("What its agent has seen is in it, secrets too, if it saw any."), Tone.WARN),
)


class Created(NamedTuple):
    """What came of asking for a conversation: the id of its start task, if one was told."""

    task: str | None
    known: bool = True


async def create(screen: ConversationsScreen, session: Session, asked: NewConversation | None = None) -> bool:
    """Ask what to start with, create it, and follow its start task in the list; whether it was created."""
    choices, said = _choices(screen, session), _applies(session)
    if asked is None and (asked := screen.unsent) is not None and screen.unsent_because:
        said.append(cell(screen.unsent_because, Tone.BAD))
    if asked is not None and asked.sandbox_id and asked.sandbox_id not in (sandbox_id for _, sandbox_id in choices):
        said.append(cell(text.line(f"It was to live in {asked.sandbox_id}, which cannot take it now."), Tone.WARN))
    screen.unsent = None

    async def send(new: NewConversation) -> Created:
        try:
            return Created(await session.create(new))
        except ServiceError as error:
            screen.unsent, screen.unsent_because = new, text.line(f"{error.words} {error.advice}")
            if error.outcome not in (Outcome.UNKNOWN, Outcome.APPLIED):
                raise
            screen.say_error(error)  # it may have been created: the list shows it then, and n every word of it again
            return Created(None, known=False)

    created = await screen.app.push_screen_wait(new_conversation(choices, send, said, asked))
    if created is None or not created.known:
        return False
    screen.unsent = None
    screen.app.wanted = created.task
    screen.say(Shown("Created. Its start is followed in the list, step by step."), Tone.GOOD)
    return True


async def retry(screen: ConversationsScreen, session: Session, row: ConversationRow) -> None:
    """Ask again for what a failed start was asked for, as far as the server tells; put that away once it is created."""
    request = row.task.request if row.task is not None else None
    asked = NewConversation(**request.model_dump()) if request is not None else NewConversation()
    if await create(screen, session, asked):
        session.dismiss((row.id,))


def _choices(screen: ConversationsScreen, session: Session) -> list[tuple[Shown, str]]:
    """The sandboxes a conversation can be put into; a paused one is resumed by the server."""
    now = screen.app.clock()
    choices = []
    for sandbox_id, memory in session.memories.by_id.items():
        state = memory.state(now)
        if state.known in (StateWord.RUNNING, StateWord.PAUSED) and sandbox_id in session.sandboxes.records:
            choices.append((text.line(f"{sandbox_id}  {state.words}"), sandbox_id))
    return choices


def _applies(session: Session) -> list[Cell]:
    if session.server is not None and session.server.local:
        return [cell(Shown("The local service keeps conversations; it runs no agent in them."), Tone.MUTED)]
    return [cell(Shown("The stored settings (3) apply: model, key, tool servers, git identity."), Tone.MUTED)]


# Delete


async def delete(
    screen: ConversationsScreen, session: Session, rows: Sequence[ConversationRow], hidden: Collection[str]
) -> None:
    """Delete conversations once the short id of the one, or the number of the many, has been typed.

    Failed starts are put away, without a question: nothing on the server changes.
    """
    if all(row.task is not None for row in rows):
        session.dismiss([row.id for row in rows if row.state.attention])
    elif len(rows) == 1:
        await _delete_one(screen, session, rows[0])
    else:
        order = Order(
            "Delete",
            session.delete_conversation,
            lambda row_id: listed_verdict(row_id, session.conversations.records),
            CONVERSATIONS,
        )
        planned = plan(rows, _why_not_deleted, hidden)
        await screen.delete_many(session, order, planned, _goes_with(session, several=True))


def _why_not_deleted(row: ConversationRow) -> str | None:
    return None if row.task is None else "It is no conversation yet."


async def _delete_one(screen: ConversationsScreen, session: Session, row: ConversationRow) -> None:
    word = text.line(row.short_id)
    said = [cell(screen.title_of(row), Tone.STRONG), EMPTY, *_goes_with(session, several=False)]
    asked = TypedConfirmDialog(Shown("Delete this conversation?"), said, word)
    if not await screen.app.push_screen_wait(asked):
        return
    screen.say(text.line(f"Deleting {word}: asking the server…"), Tone.BUSY)
    try:
        await session.delete_conversation(row.id)
    except ServiceError as error:
        screen.note_unable("delete", error)
        screen.say_error(error)
    else:
        screen.say(Shown(f"Deleted {word}"), Tone.GOOD)


def _goes_with(session: Session, *, several: bool) -> list[Cell]:
    whose, goes = ("Their sandboxes", "go") if several else ("Its sandbox", "goes")
    if session.server is not None and session.server.local:
        return [cell(Shown(f"{whose} stay{'' if several else 's'}."))]
    words = f"{whose} {goes} too, with all files in it, unless another conversation lives there."
    return [cell(Shown(words.replace("in it", "in them") if several else words))]


# Rename


async def rename(screen: ConversationsScreen, session: Session, row: ConversationRow) -> None:
    """Ask for another title and give it."""

    async def send(title: str) -> None:
        try:
            await session.rename_conversation(row.id, title)
        except ServiceError as error:
            screen.note_unable("rename", error)
            raise

    said = await screen.app.push_screen_wait(rename_conversation(text.line(row.title), send))
    if said is not None:
        screen.say(said, Tone.GOOD)


# The trajectory


async def save_trajectory(screen: ConversationsScreen, session: Session, row: ConversationRow) -> None:
    """Ask for a path, have the server make the file, and write it there."""
    title = f"Trajectory of {screen.title_of(row)}"
    chosen = await choose_file(screen.app, title, TRAJECTORY, Path(f"trajectory-{text.line(row.short_id)}.zip"))
    if chosen is None:
        return
    path, over = chosen
    screen.say(text.line(f"The server packs the trajectory of {screen.title_of(row)}…"), Tone.BUSY)
    try:
        content = await session.client.conversations.trajectory(row.id)
        await asyncio.to_thread(files.write, path, content, over=over)
    except ServiceError as error:
        screen.note_unable("trajectory", error)
        screen.say_error(error)
    except FileExistsError:
        screen.say(text.line(f"{path} came to be meanwhile and was left as it is. Nothing was written."), Tone.BAD)
    except FileRefusedError as error:
        screen.say(text.line(str(error)), Tone.BAD)
    else:
        screen.say(text.line(f"Written to {path}: {_size(len(content))}, readable by you alone."), Tone.GOOD)


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MB" if count >= 2**20 else f"{max(1, count // 1024)} kB"
