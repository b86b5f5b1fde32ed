"""`quarterdeck conversations`: list them, or create one and follow its start."""

import asyncio
import re
from dataclasses import replace

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import (
    NOTHING_MATCHED,
    client_for,
    refuse_unknown_status,
    session_for,
    table,
    typed_filter,
    utc_minute,
)
from quarterdeck.cli.output import CommandError, answer, if_interrupted, note, typed_message
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask, conversation_plain
from quarterdeck.client.models.enums import StartTaskStatus
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import utc_now
from quarterdeck.fleet.conversations import CONVERSATION_GRAMMAR, STATE_WORDS
from quarterdeck.fleet.filters import kept
from quarterdeck.fleet.start_tasks import FAILED, start_state
from quarterdeck.tui.text import line

GRAMMAR = CONVERSATION_GRAMMAR.without("unread", "watched")
"""The filter of the deck without what only the deck knows: what was read, and what is watched."""
PATIENCE = 180.0
"""Seconds that a start task may take: servers wait up to 120 for a sandbox."""
EVERY = 0.5
"""Seconds between two polls of a start task."""
NAMED_AGAIN = (15.0, 4.0)
"""Seconds within which servers give their own title after the first message, and once more after a fast answer
(SERVERS.md: creating a conversation)."""


async def show(arguments: CommandLine, config: Config) -> int:
    """Print the matching conversations in the words of the deck, newest first.

    An empty result is status 0 without a filter, 3 with one.
    """
    wanted = typed_filter(arguments.filter, GRAMMAR)
    async with session_for(arguments, config) as session:
        # Without the list of sandboxes, only a sandbox that the server calls missing counts as missing.
        await session.conversations.read_all()
        refuse_unknown_status(wanted, STATE_WORDS, session.conversation_rows)
        rows = kept(session.conversation_rows, wanted, utc_now())
        cells = [(row.id, row.state.word, utc_minute(row.told.changed_at), row.title) for row in rows]
        records = [conversation_plain(row.record) for row in rows if row.record is not None]
        answer(arguments, records, table(("ID", "STATE", "UPDATED (UTC)", "TITLE"), cells))
        if unreadable := session.conversations.health.unreadable:
            note(f"{unreadable} of {unreadable + len(session.conversations.records)} records could not be read.")
            return 1
        return NOTHING_MATCHED if wanted and not rows else 0


async def create(arguments: CommandLine, config: Config) -> int:
    """Create a conversation; 0 only if it is ready and can be read. Steps are printed on standard error."""
    if arguments.repository is not None and not re.fullmatch(r"[^\s/]+(/[^\s/]+)+", arguments.repository):
        raise CommandError("--repository is OWNER/NAME.", status=2)
    if arguments.branch is not None and arguments.repository is None:
        raise CommandError("--branch is of a repository.", "Add --repository OWNER/NAME.", status=2)
    new = NewConversation(
        message=typed_message(arguments.message),
        title=arguments.title,
        selected_repository=arguments.repository,
        selected_branch=arguments.branch,
        sandbox_id=arguments.sandbox,
    )
    async with client_for(arguments, config) as client:
        before = await _newest(client)
        with if_interrupted("The server may go on and create it.", "`quarterdeck conversations list` shows it then."):
            created = await client.conversations.create(new)
            if isinstance(created, StartTask):
                conversation = await _follow(client, created, before)
            else:
                conversation = created or await _appeared(client, before)
        conversation = await _titled(client, conversation, new)
        answer(arguments, conversation_plain(conversation), [line(conversation.id)])
        return 0


async def _follow(client: Client, task: StartTask, before: tuple[Conversation, ...]) -> Conversation:
    """Wait for a start task to end and return its conversation, on a server without them for a new one in the list.

    Raises CommandError.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    told = ""
    while task.app_conversation_id is None or task.status != StartTaskStatus.READY:
        state = start_state(task, utc_now())
        if state.word == FAILED:
            raise CommandError(f"The conversation could not be started: {state.note}")
        if state.word != told:
            note(f"{state.word}.")
            told = state.word
        if loop.time() > end:
            raise CommandError("The conversation is still being started.", "List the conversations in a while.")
        await asyncio.sleep(EVERY)
        if (found := await client.start_tasks.find(task.id)) is None:
            if not client.start_tasks.offered:
                note("This server does not tell how it starts; the one that is new in the list is taken for it.")
                return await _appeared(client, before, end)
            raise CommandError("The server no longer knows the start task.", "List the conversations.")
        task = found
    return await _read(client, task.app_conversation_id)


async def _read(client: Client, conversation_id: str) -> Conversation:
    if (conversation := await client.conversations.find(conversation_id)) is None:
        words = f"The conversation {conversation_id} was created, but is not listed."
        raise CommandError(words, "List them in a while.")
    return conversation


async def _titled(client: Client, conversation: Conversation, new: NewConversation) -> Conversation:
    """Rename a conversation if the server did not take the title, and again if it replaces that."""
    loop, title = asyncio.get_running_loop(), (new.title or "").strip() or conversation.title
    for seconds in (0.0, *(NAMED_AGAIN if new.message else ())):
        until = loop.time() + seconds
        while conversation.title == title and loop.time() < until:
            await asyncio.sleep(EVERY)
            conversation = await _read(client, conversation.id)
        if title is None or conversation.title == title:
            break
        try:
            await client.conversations.rename(conversation.id, title)
        except ServiceError as error:
            note(f"It is called {conversation.title or 'nothing'}: {error.sentences}")
            break
        conversation = replace(conversation, title=title)
    return conversation


async def _newest(client: Client) -> tuple[Conversation, ...]:
    """Return the first page of the list."""
    return (await anext(client.conversations.pages())).items


async def _appeared(client: Client, before: tuple[Conversation, ...], end: float = 0.0) -> Conversation:
    """Return the only new conversation in the list, for which it waits until `end` (by the clock of the loop).

    Raises CommandError if there is not exactly one.
    """
    loop, known = asyncio.get_running_loop(), {conversation.id for conversation in before}
    latest = max((each.created_at for each in before if each.created_at is not None), default=None)

    def is_new(each: Conversation) -> bool:
        """Whether it was not listed before, nor is an older one that moved up where another was deleted."""
        return each.id not in known and (latest is None or each.created_at is None or each.created_at >= latest)

    while True:
        new = [conversation for conversation in await _newest(client) if is_new(conversation)]
        if new or loop.time() >= end:
            break
        await asyncio.sleep(EVERY)
    if len(new) != 1:
        words = "The server took the request, but which conversation is the new one is unknown."
        raise CommandError(words, "List them.")
    return new[0]
