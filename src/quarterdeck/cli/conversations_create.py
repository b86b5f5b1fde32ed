"""`quarterdeck conversations create`: create a conversation and follow its start task."""

import asyncio
import sys

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import as_json, note, say
from quarterdeck.cli.plain import conversation_plain
from quarterdeck.client.client import Client
from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from quarterdeck.config.load import Config

PATIENCE = 180.0
"""Seconds a start task may take: servers wait up to 120 for a sandbox (contract g.2)."""
EVERY = 0.5
"""Seconds between two readings of a start task."""


def run(arguments: CommandLine, config: Config) -> int:
    """Create a conversation; 0 only when it is ready and can be read. Steps go to standard error."""
    new = NewConversation(
        message=_message(arguments.message),
        title=arguments.title,
        selected_repository=arguments.repository,
        selected_branch=arguments.branch,
        sandbox_id=arguments.sandbox,
    )

    async def create(client: Client) -> int:
        before = await _newest(client)
        answer = await client.conversations.create(new)
        if isinstance(answer, StartTask):
            conversation = await _read(client, await _follow(client, answer))
        else:
            conversation = answer or await _appeared(client, before)
        if arguments.json:
            as_json(conversation_plain(conversation))
        else:
            say(conversation.id)
        return 0

    return with_client(arguments, config, create)


def _message(typed: str | None) -> str | None:
    if typed != "-":
        return typed
    if sys.stdin is None or sys.stdin.isatty():
        raise CommandError("Standard input is a terminal.", "Pipe the message in; nothing is asked for here.", status=2)
    return sys.stdin.read()


async def _follow(client: Client, task: StartTask) -> str:
    """Wait for the end of a start task and return the id of its conversation; raises CommandError."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    told = ""
    while task.app_conversation_id is None or task.status != StartTaskStatus.READY:
        if task.status != told:
            note(f"{task.status.replace('_', ' ').lower()}.")
            told = task.status
        if task.status == StartTaskStatus.ERROR:
            raise CommandError(f"The conversation could not be started: {task.detail or 'the server gives no reason'}.")
        if loop.time() > end:
            raise CommandError("The conversation is still being started.", "List the conversations in a while.")
        await asyncio.sleep(EVERY)
        answer = await client.conversations.start_tasks([task.id])
        if not answer or answer[0] is None:
            raise CommandError("The server no longer knows the start task.", "List the conversations.")
        task = answer[0]
    return task.app_conversation_id


async def _read(client: Client, conversation_id: str) -> Conversation:
    answer = await client.conversations.read([conversation_id])
    for conversation in answer if answer is not None else await _newest(client):
        if conversation is not None and conversation.id == conversation_id:
            return conversation
    raise CommandError(f"The conversation {conversation_id} was created, but is not listed.", "List them in a while.")


async def _newest(client: Client) -> tuple[Conversation, ...]:
    """The first page of the list."""
    async for page in client.conversations.pages():
        return page.items
    return ()


async def _appeared(client: Client, before: tuple[Conversation, ...]) -> Conversation:
    """The one conversation that is new in the list; raises CommandError when there is not exactly one."""
    known = {conversation.id for conversation in before}
    new = [conversation for conversation in await _newest(client) if conversation.id not in known]
    if len(new) != 1:
        raise CommandError(
            "The server took the request, but which conversation is the new one is unknown.", "List them."
        )
    return new[0]
