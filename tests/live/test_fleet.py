"""Sandboxes on a real server, starts of conversations, and agents: followed, answered, stopped.

QUARTERDECK_LIVE_MODEL is the address of a model that does what the last message with a line "stub:" says, a step a
line: `text`, `run` (the terminal), `run!` (marked HIGH), `big` (so many characters), `error` (an HTTP error),
`@seconds` before a step.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.client.models.enums import SandboxStatus, StartTaskStatus
from quarterdeck.config.connections import Connection
from quarterdeck.fleet.answering import Answering
from quarterdeck.fleet.entries import EntryKind, Outcome
from quarterdeck.fleet.following import Following, Origin
from quarterdeck.fleet.transcript import STREAMED
from quarterdeck.tui.app import Deck
from quarterdeck.tui.conversation.question import Question
from tests.client.fakes import under_way
from tests.live.conftest import Target
from tests.live.kit import changed, delete_sandbox_left_by, ended, listed_tasks, refused, settings_of, started
from tests.local.conftest import until
from tests.tui.user import User, connecting, seated_at

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

UP = (SandboxStatus.STARTING, SandboxStatus.RUNNING)


async def test_a_sandbox_is_started_read_paused_resumed_and_deleted(client: Client, notes: list[str]) -> None:
    specs = await client.sandboxes.specs()
    assert specs
    sandbox = await client.sandboxes.start(specs[0].id)
    seen = [sandbox.status]

    async def reads(*wanted: str) -> None:
        """Wait until it reads one of these, or is gone where none is wanted."""

        async def there() -> bool:
            unknown, found = await client.sandboxes.read(("surely-not-there", sandbox.id)) or ()
            assert unknown is None
            if found is not None and found.status != seen[-1]:
                seen.append(found.status)
            return found.status in wanted if found else not wanted

        await until(there, 30.0)

    try:
        assert sandbox.sandbox_spec_id == specs[0].id
        assert sandbox.id in await listed(client)
        await reads(*UP)
        await client.sandboxes.pause(sandbox.id)
        await reads(SandboxStatus.PAUSED)
        await client.sandboxes.pause(sandbox.id)
        await client.sandboxes.resume(sandbox.id)
        await reads(*UP)
    finally:
        await client.sandboxes.delete(sandbox.id)
    await reads()
    assert sandbox.id not in await listed(client)
    for order in (client.sandboxes.pause, client.sandboxes.resume, client.sandboxes.delete):
        with refused(ErrorKind.MISSING):
            await order(sandbox.id)
    notes.append(f"sandbox: read {', '.join(seen)}, gone")


async def listed(client: Client) -> set[str]:
    return {sandbox.id async for page in client.sandboxes.pages() for sandbox in page.items}


async def test_a_sandbox_that_is_not_there_is_an_error_of_the_start_task(client: Client) -> None:
    task = await started(client, NewConversation(sandbox_id="surely-not-there"))
    assert task.status == StartTaskStatus.ERROR
    assert "surely-not-there" in (task.detail or "")


async def test_one_is_started_and_listed_and_deleted_or_its_failure_is_told(client: Client, notes: list[str]) -> None:
    task = await started(client, NewConversation())
    if task.status == StartTaskStatus.ERROR:
        assert task.app_conversation_id is None
        assert task.detail is not None
        first_line = task.detail.partition("\n")[0][:100]
        notes.append(f"conversation: its start failed, and the start task says {first_line!r}")
    else:
        assert task.app_conversation_id is not None
        notes.append(f"conversation: started, listed, {await deleted(client, task.app_conversation_id)}")
    await delete_sandbox_left_by(client, task.id)


async def deleted(client: Client, conversation_id: str) -> str:
    unknown, found = await client.conversations.read(("0" * 32, conversation_id)) or ()
    assert (unknown, found and found.id) == (None, conversation_id)
    assert conversation_id in {item.id async for page in client.conversations.pages() for item in page.items}
    try:
        await client.conversations.delete(conversation_id)
    except ServiceError as error:
        if error.kind is not ErrorKind.NOT_OFFERED:
            raise
        return "but this server cannot delete it"
    assert await client.conversations.read((conversation_id,)) == (None,)
    with refused(ErrorKind.MISSING):
        await client.conversations.delete(conversation_id)
    return "deleted"


MODEL = os.environ.get("QUARTERDECK_LIVE_MODEL", "")


class Chat:
    def __init__(self, client: Client, conversation_id: str) -> None:
        self.client = client
        self.following = Following(client, conversation_id, lambda: None, lambda: datetime.now(UTC))
        self.answering = Answering(self.following)
        self.transcript = self.following.transcript

    async def does(self, *steps: str) -> str:
        await self.comes(lambda: self.following.reached)
        return await self.answering.send("\n".join(("stub:", *steps)))

    async def comes(self, true: Callable[[], object]) -> None:
        await until(true, 60.0)

    async def asked(self, *commands: str) -> frozenset[str]:
        """Wait until the agent asks for these; gives what an answer names."""
        await self.comes(lambda: [entry.title for entry in self.transcript.question] == list(commands))
        return self.transcript.open_actions

    def outcome(self, command: str) -> Outcome | None:
        return next((each.outcome for each in reversed(self.transcript.entries) if each.title == command), None)

    def said(self, words: str) -> bool:
        return any(each.text.strip() == words for each in self.transcript.entries if each.id != STREAMED)

    async def ends_with(self, words: str) -> None:
        await self.comes(lambda: self.transcript.status == "finished" and self.said(words))


@asynccontextmanager
async def chatting(target: Target, conversation_id: str) -> AsyncIterator[Chat]:
    async with target.client() as client:
        chat = Chat(client, conversation_id)
        async with under_way(chat.following.run()):
            await chat.comes(lambda: chat.following.reached)
            yield chat


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def scripted(editable: Client) -> None:
    """A server whose agents do what they are told, and ask before what is risky."""
    if not MODEL:
        pytest.skip("QUARTERDECK_LIVE_MODEL names no model")
    model = {"llm_model": "openai/stub", "llm_base_url": MODEL, "llm_api_key": SecretStr("live-check")}
    record = await changed(editable, await settings_of(editable), model)
    await changed(editable, record, {"confirmation_mode": True, "security_analyzer": "llm"})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def talk(client: Client, target: Target, scripted: None) -> AsyncIterator[str]:
    """A conversation that all tests go on with; its sandbox is deleted in the end."""
    task = await started(client, NewConversation(message="stub:\ntext ready"))
    if task.app_conversation_id is None:
        pytest.skip(f"no agent runs here: {task.detail}")
    yield task.app_conversation_id
    await delete_sandbox_left_by(client, task.id)


@pytest_asyncio.fixture(loop_scope="session")
async def chat(talk: str, target: Target) -> AsyncIterator[Chat]:
    async with chatting(target, talk) as chat:
        if chat.transcript.running:
            await chat.answering.stop()
        if chat.transcript.waiting:
            await chat.answering.reject(chat.transcript.open_actions)
        await chat.comes(lambda: not chat.transcript.running and not chat.transcript.waiting)
        yield chat


async def test_a_run_is_followed_by_socket_word_by_word_and_goes_on_with_the_next_message(chat: Chat) -> None:
    await chat.comes(lambda: chat.following.origin is Origin.LIVE)
    streamed: list[str] = []

    def ended() -> bool:
        streamed.extend(each.text for each in chat.transcript.entries if each.id == STREAMED)
        return chat.transcript.status == "finished"

    assert await chat.does("run echo hi", "@3 text one two three four five six") == "Sent."
    await chat.comes(ended)
    assert chat.outcome("echo hi") is Outcome.DONE
    assert any(words.startswith("one") for words in streamed)
    await chat.comes(lambda: chat.said("one two three four five six"))  # the log is read a moment after the state
    await chat.does("text and again")
    await chat.ends_with("and again")
    await chat.following.catch_up()
    assert chat.following.agent is not None
    page = await chat.following.agent.events(newest_first=True)
    ids = [event.id for event in chat.transcript.listed_after(None)]
    assert [event.id for event in reversed(page.events[: len(ids)])] == ids, "it is the server's own log, in its order"


async def test_messages_around_the_moment_in_which_a_question_comes_run_nothing(chat: Chat) -> None:
    for lead in range(4):
        sending = asyncio.create_task(chat.does(f"run! echo never-{lead}", "text unexpected"))
        later: list[asyncio.Task[str]] = []
        for _ in range(6):
            await asyncio.sleep(0.03 + 0.02 * lead)
            later.append(asyncio.create_task(chat.answering.send("go on")))
        await asyncio.gather(sending, *later)
        shown = await chat.asked(f"echo never-{lead}")
        await asyncio.sleep(1)
        assert chat.outcome(f"echo never-{lead}") is Outcome.OPEN
        await chat.answering.reject(shown)


async def test_two_answer_at_once_and_only_what_they_saw_is_done(chat: Chat, target: Target) -> None:
    await chat.does("run! echo first", "run! echo second", "text unexpected")
    shown = await chat.asked("echo first")
    async with chatting(target, chat.following.conversation_id) as other:
        assert await other.asked("echo first") == shown
        both = (chat.answering.accept(shown), other.answering.accept(shown))
        answers = await asyncio.gather(*both, return_exceptions=True)
        assert "Accepted." in answers
        assert all(isinstance(answer, str | ServiceError) for answer in answers)
        await chat.asked("echo second")
        assert chat.outcome("echo first") is Outcome.DONE
        await asyncio.sleep(1)
        assert chat.outcome("echo second") is Outcome.OPEN


async def test_a_message_of_60_kb_is_whole(chat: Chat) -> None:
    words = "stub:\ntext heard\nstub.\n" + " ".join(f"word{number}" for number in range(7_000))
    assert len(words) > 60_000
    await chat.answering.send(words)
    await chat.ends_with(words)


async def test_errors_of_the_model_are_told_and_silence_is_measured(chat: Chat) -> None:
    await chat.does("error 401 bad key")
    await chat.comes(lambda: chat.transcript.status == "error")
    assert "Authentication" in [each for each in chat.transcript.entries if each.kind is EntryKind.ERROR][-1].title
    await chat.does("error 429 slow down")
    await chat.comes(lambda: chat.transcript.status == "running")
    await chat.comes(lambda: chat.following.silent_for(datetime.now(UTC)).total_seconds() > 5)
    await chat.answering.stop()
    await chat.comes(lambda: chat.transcript.status == "paused")


async def test_a_sandbox_paused_in_the_middle_is_said_and_after_its_resume_the_run_goes_on(chat: Chat) -> None:
    await chat.does("run sleep 12", "text after the pause")
    await chat.comes(lambda: chat.transcript.under_way is not None)
    record = chat.following.record
    assert record is not None
    assert record.sandbox_id is not None
    await chat.client.sandboxes.pause(record.sandbox_id)
    chat.following.refresh()
    await chat.comes(lambda: chat.following.origin is Origin.SANDBOX_PAUSED)
    with refused(ErrorKind.CONFLICT, unsent=True):
        await chat.answering.send("now")
    await chat.client.sandboxes.resume(record.sandbox_id)
    chat.following.refresh()
    await chat.comes(lambda: chat.following.reached)
    await chat.ends_with("after the pause")


async def test_by_keys_alone_on_80_by_24(scripted: None, client: Client, target: Target, tmp_path: Path) -> None:
    """A conversation is started, followed, asked, answered, refused with a reason, stopped, resumed and finished."""

    def connect(endpoint: Connection, key: SecretStr | None = None) -> Client:
        return target.client()

    before = await listed_tasks(client)
    deck = Deck(Connection(target.label, target.url), connecting(connect), crash_folder=tmp_path)
    async with seated_at(deck) as user:
        await user.sees("live now")
        await user.press("n", sees="First message")
        user.paste_at_once("stub:\nrun echo start\nrun! echo one\nrun! echo two\ntext unexpected")
        await user.press("ctrl+s", sees="Created.")
        (started,) = await listed_tasks(client) - before
        task = await ended(client, started)
        assert task is not None
        if task.app_conversation_id is None:
            pytest.skip(f"no agent runs here: {task.detail}")
        await user.press("ctrl+r", until=lambda: user.list_screen.table.cursor_id == task.app_conversation_id)
        await user.press("enter", sees="m writes a message")
        await answer(user, "echo one", "tab", "y")
        await answer(user, "echo two", "tab", "n")
        await user.sees("Why")
        user.paste_at_once("no, do not")
        await user.press("enter", sees=("Rejected, and your reason sent.", "no, do not"))
        await user.sees("Finished")
        await user.press("m")
        user.paste_at_once("stub:\nrun sleep 20\ntext all done")
        await user.press("ctrl+s", "escape", sees=("Working", "◔ terminal", "sleep 20"))
        await user.press("p", sees=("Agent paused", "interrupted"))
        await user.press("r", sees=("Finished", "all done"))
    await delete_sandbox_left_by(client, started)


async def answer(user: User, command: str, *keys: str) -> None:
    """Answer the question for that command, once it is asked."""
    await user.until(lambda: [each.title for each in user.deck.screen.query_one(Question).actions] == [command])
    await user.press(*keys)
