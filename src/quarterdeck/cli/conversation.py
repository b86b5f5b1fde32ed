"""`quarterdeck conversations show`, `send`, `stop` and `wait`: one conversation without the deck.

What may be said to an agent, and when, is `fleet.answering`'s: here its refusals become an exit status.
"""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import until_told, utc_now, with_client, words_of
from quarterdeck.cli.output import CommandError, as_json, json_line, note, say, typed_text
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus
from quarterdeck.client.models.event import Event
from quarterdeck.config.load import Config
from quarterdeck.fleet.answering import Answering
from quarterdeck.fleet.entries import Entries, Entry, Outcome
from quarterdeck.fleet.following import Following, Origin

NEEDS_SOMEONE, FAILED, TIME_IS_UP, NOT_KNOWN = 4, 5, 6, 1
"""Exit statuses beside 0, which says that what was asked for came."""
SILENCE = 60.0
"""Seconds without an answer after which it is given up to find out."""
STOPS_WITHIN = 60.0
BEGINS_WITHIN = 3.0
"""Seconds in which an agent that was written to begins to work; until then that it rests says nothing."""
_FAILING = frozenset({ExecutionStatus.ERROR, ExecutionStatus.STUCK, ExecutionStatus.DELETING})
_RESTING = frozenset({ExecutionStatus.FINISHED, ExecutionStatus.IDLE, ExecutionStatus.PAUSED})


class Stand(NamedTuple):
    """What a conversation has come to: a word for scripts, and the exit status that says it."""

    word: str
    status: int


_DELETED = Stand("deleted", FAILED)


class Conversation:
    """One conversation as commands see it, once it was read."""

    def __init__(self, client: Client, conversation_id: str) -> None:
        self._news = asyncio.Event()
        self.following = Following(client, conversation_id.replace("-", "").lower(), self._news.set, utc_now)
        self.answering = Answering(self.following, utc_now)

    async def look(self) -> None:
        """Read it once; raises ServiceError where it cannot be found out what it has come to."""
        try:
            await self.following.look()
        except ServiceError:
            if self.stand is None:
                raise

    async def until(self, reached: Callable[[], bool], seconds: float | None = None) -> bool:
        """Follow until it is so, False when the time is up; raises CommandError when nothing answers for long."""
        loop = asyncio.get_running_loop()
        heard = loop.time()
        reading = asyncio.create_task(self.following.run())
        try:
            async with asyncio.timeout(seconds):
                while not reached():
                    self._news.clear()
                    if self.following.origin not in (Origin.SILENT, Origin.OPENING):
                        heard = loop.time()
                    elif loop.time() - heard > SILENCE:
                        raise CommandError(
                            "It cannot be found out.", _without_keys(self.following.note), status=NOT_KNOWN
                        )
                    await self._news.wait()
            return True
        except TimeoutError:
            return False
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    @property
    def stand(self) -> Stand | None:
        """What it has come to; None while the agent works, and while that is not known."""
        following = self.following
        sandbox = following.record.sandbox_status if following.record is not None else None
        status = following.transcript.status
        if following.origin is Origin.GONE:
            return _DELETED
        if following.origin is Origin.COPY and sandbox in (SandboxStatus.MISSING, SandboxStatus.ERROR):
            return Stand("sandbox gone", FAILED)
        if following.origin is Origin.ASLEEP:
            return Stand("sandbox paused", 0)
        if following.origin in (Origin.SILENT, Origin.OPENING):
            return None
        if following.transcript.waiting:
            return Stand(status, NEEDS_SOMEONE)
        return Stand(status, FAILED) if status in _FAILING else Stand(status, 0) if status in _RESTING else None

    def tell(self, stand: Stand, *, json: bool) -> int:
        """Print what it has come to, and what it asks; gives the exit status."""
        question = self.following.transcript.question
        if json:
            asked = [{"id": each.id, "tool": each.who, "what": each.title, "risk": each.risk} for each in question]
            as_json({"id": self.following.conversation_id, "status": stand.word, "question": asked})
        else:
            say(stand.word)
        self.name_question(question)
        return stand.status

    def name_question(self, question: Sequence[Entry]) -> None:
        """Say on standard error what waits to be accepted or refused."""
        for action in question:
            risk = f" (risk: {action.risk.lower()})" if action.risk else ""
            note(f"it asks to be allowed {action.id}  {action.who}: {action.title or action.summary}{risk}")


def show(arguments: CommandLine, config: Config) -> int:
    """Print the log, an event a line; with --follow also what happens, until a signal or a closed pipe."""

    async def read(conversation: Conversation) -> int:
        following, told = conversation.following, None
        await conversation.look()
        while following.origin is not Origin.GONE and await following.older():
            pass
        if following.note:
            note(_without_keys(following.note))

        def print_new() -> bool:
            nonlocal told
            for event in following.transcript.listed_after(told):
                told = event.id
                _print(event, following, json=arguments.json)
            sys.stdout.flush()
            return following.origin is Origin.GONE

        if not print_new() and arguments.follow:
            await conversation.until(print_new)
        return conversation.tell(_DELETED, json=arguments.json) if following.origin is Origin.GONE else 0

    async def until_ended(client: Client) -> int:
        return await until_told(read(Conversation(client, arguments.id))) or 0

    return with_client(arguments, config, until_ended)


def send(arguments: CommandLine, config: Config) -> int:
    """Send a message or an answer; to one that waits for an answer a message is not sent (status 4)."""
    text = typed_text(arguments.text, "message")
    if arguments.reject is not None and (text is not None or arguments.accept is not None):
        raise CommandError("--reject says what is sent: give it alone.", status=2)
    if text is None and arguments.accept is None and arguments.reject is None:
        raise CommandError("There is nothing to send.", "Give a text, or - to read it, --accept or --reject.", status=2)

    async def say_it(conversation: Conversation) -> str:
        answering, shown = conversation.answering, conversation.following.transcript.open_actions
        if arguments.reject is not None:
            return await answering.reject(shown, arguments.reject)
        if arguments.accept is None:
            return await answering.send(text or "")
        named = frozenset(filter(None, arguments.accept.split(",")))
        return await answering.accept(named, saying=text or "")

    async def act(client: Client) -> int:
        conversation = Conversation(client, arguments.id)
        await conversation.look()
        if (
            (stand := conversation.stand) is not None
            and stand.status == FAILED
            and conversation.following.agent is None
        ):
            return conversation.tell(stand, json=arguments.json)
        transcript = conversation.following.transcript
        if transcript.waiting and arguments.accept is None and arguments.reject is None:
            note("It waits for an answer, so nothing was sent.", "Answer with --accept ID,... or --reject REASON.")
            return conversation.tell(Stand(transcript.status, NEEDS_SOMEONE), json=arguments.json)
        if (refused := await _refused(say_it(conversation), conversation, json=arguments.json)) is not None:
            return refused
        if arguments.wait:
            return await _wait(conversation, arguments, begins_within=BEGINS_WITHIN)
        return NEEDS_SOMEONE if transcript.waiting and not arguments.accept else 0

    return with_client(arguments, config, act)


def stop(arguments: CommandLine, config: Config) -> int:
    """Stop the agent, in the middle of its step where it can be, and wait until it reads so."""

    async def act(client: Client) -> int:
        conversation = Conversation(client, arguments.id)
        await conversation.look()
        if (stand := conversation.stand) is not None:
            return conversation.tell(stand, json=arguments.json)
        if (refused := await _refused(conversation.answering.stop(), conversation, json=arguments.json)) is not None:
            return refused
        arguments.timeout = STOPS_WITHIN
        return await _wait(conversation, arguments)

    return with_client(arguments, config, act)


def wait(arguments: CommandLine, config: Config) -> int:
    """Wait until the agent is done (0) or needs somebody (4), or until it asks, and say to what it came."""

    async def act(client: Client) -> int:
        conversation = Conversation(client, arguments.id)
        await conversation.look()
        return await _wait(conversation, arguments)

    return with_client(arguments, config, act)


async def _wait(conversation: Conversation, arguments: CommandLine, *, begins_within: float = 0.0) -> int:
    loop = asyncio.get_running_loop()
    begins_until = loop.time() + begins_within
    for_question = arguments.wanted == "needs-you"

    def reached() -> bool:
        stand = conversation.stand
        if stand is None or stand.status:
            return stand is not None
        return not for_question and loop.time() >= begins_until

    if not await conversation.until(reached, arguments.timeout) or (stand := conversation.stand) is None:
        note("The time is up.")
        say(conversation.following.transcript.status or "not known")
        return TIME_IS_UP
    status = conversation.tell(stand, json=arguments.json)
    return 0 if for_question and status == NEEDS_SOMEONE else status


async def _refused(act: Awaitable[str], conversation: Conversation, *, json: bool) -> int | None:
    """Say what an answer came to; the exit status where nothing was sent because it stands otherwise."""
    try:
        note(await act)
    except ServiceError as error:
        if error.kind is not ErrorKind.CONFLICT:
            raise
        note(_without_keys(words_of(error)), error.advice)
        if (stand := conversation.stand) is not None and stand.status:
            return conversation.tell(stand, json=json)
        return NOT_KNOWN
    return None


def _without_keys(words: str) -> str:
    """A sentence without what it says of keys of the deck, which comes after its semicolon."""
    return re.sub(r"; r .*(?=\.)", "", words)


def _print(event: Event, following: Following, *, json: bool) -> None:
    """Print one event on one line: as data with all its members that are known, or in words."""
    if json:
        json_line(event.model_dump(mode="json"))
        return
    entries = Entries()
    entries.add(event)
    for entry in entries.listed:
        moment = following.moment(event.timestamp)
        time = moment.strftime("%Y-%m-%d %H:%M:%S") if moment is not None else "-"
        say(f"{time}  {entry.who or '-'}  {_words(entry)}")


def _words(entry: Entry) -> str:
    """All that an entry says, for one line."""
    tasks = "; ".join(f"{task.status} {task.title}" for task in entry.tasks)
    failed = f"failed{'' if entry.exit_code is None else f' ({entry.exit_code})'}:"
    outcome = {Outcome.FAILED: failed, Outcome.RUNS_ON: "runs on:"}.get(entry.outcome) if entry.outcome else None
    return " ".join(filter(None, (entry.title, tasks, outcome, entry.text)))
