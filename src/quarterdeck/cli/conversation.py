"""`quarterdeck conversations show`, `send`, `stop` and `wait`: one conversation without the deck.

`fleet.answering` decides what may be sent to an agent; here its refusals become exit statuses.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import NamedTuple

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import client_for, until_signal, words_of
from quarterdeck.cli.output import CommandError, answer, if_interrupted, note, print_json, say, typed_message
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus
from quarterdeck.client.models.event import Event
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import utc_now
from quarterdeck.fleet.answering import Answering
from quarterdeck.fleet.entries import Entries, Entry, Outcome
from quarterdeck.fleet.following import Following, Origin
from quarterdeck.tui.text import line

NEEDS_SOMEONE, FAILED, TIME_IS_UP, NOT_KNOWN = 4, 5, 6, 1
"""Exit statuses besides 0, which means that the requested result was reached."""
SILENCE = 60.0
"""Seconds without a response after which the command gives up."""
STOPS_WITHIN = 60.0
BEGINS_WITHIN = 3.0
"""Seconds within which an agent starts working after a message; until then, a resting agent may still start."""
_FAILING = frozenset({ExecutionStatus.ERROR, ExecutionStatus.STUCK, ExecutionStatus.DELETING})
_RESTING = frozenset({ExecutionStatus.FINISHED, ExecutionStatus.IDLE, ExecutionStatus.PAUSED})
_UNKNOWN = frozenset({Origin.SILENT, Origin.OPENING})


class Result(NamedTuple):
    """The result of a conversation: a word for scripts, and the exit status."""

    word: str
    status: int


class Conversation:
    """One conversation as seen by a command, after it was read."""

    def __init__(self, client: Client, arguments: CommandLine) -> None:
        self._news = asyncio.Event()
        self._arguments = arguments
        self._for_question = arguments.wanted == "needs-you"
        self.following = Following(client, arguments.id.replace("-", "").lower(), self._news.set, utc_now)
        self.transcript = self.following.transcript
        self.answering = Answering(self.following)

    async def read(self) -> None:
        """Read it once; raises ServiceError or CommandError if its result cannot be found out."""
        try:
            await self.following.poll()
        except ServiceError as error:
            if error.kind is ErrorKind.INVALID and self.following.record is None:
                words = f"{self._arguments.id!r} is no id of a conversation."
                raise CommandError(words, "`conversations list` shows them.", status=2) from None
            if self.result is None:
                raise

    async def until(self, reached: Callable[[], bool], seconds: float | None = None) -> bool:
        """Follow until a condition holds, False if the time is up; raises CommandError if nothing responds for long."""
        loop = asyncio.get_running_loop()
        heard = loop.time()
        reading = asyncio.create_task(self.following.run())
        reading.add_done_callback(lambda _: self._news.set())
        try:
            async with asyncio.timeout(seconds):
                while not reached():
                    self._news.clear()
                    if reading.done():
                        await reading  # it ends only with an error
                    if self.following.origin not in _UNKNOWN:
                        heard = loop.time()
                    elif loop.time() - heard > SILENCE:
                        raise CommandError("Its state cannot be found out.", self.following.note, status=NOT_KNOWN)
                    await self._news.wait()
            return True
        except TimeoutError:
            return False
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    @property
    def result(self) -> Result | None:
        """Its result; None while the agent works or the status is unknown."""
        origin, record, status = self.following.origin, self.following.record, self.transcript.status
        sandbox = record.sandbox_status if record is not None else None
        if origin is Origin.GONE:
            return Result("not found", FAILED)
        if origin is Origin.COPY and sandbox in (SandboxStatus.MISSING, SandboxStatus.ERROR):
            return Result(f"sandbox {'gone' if sandbox == SandboxStatus.MISSING else 'in error'}", FAILED)
        if origin is Origin.SANDBOX_PAUSED:
            return Result("sandbox paused", FAILED if self._for_question else 0)
        if origin in _UNKNOWN:
            return None
        if self.transcript.waiting:
            return Result(status, NEEDS_SOMEONE)
        if status in _FAILING:
            return Result(status, FAILED)
        return Result(status, 0) if status in _RESTING else None

    def tell(self, result: Result) -> int:
        """Print its result and its question; returns the exit status."""
        question = self.transcript.question
        asked = [{"id": each.id, "tool": each.who, "what": each.title, "risk": each.risk} for each in question]
        data = {"id": self.following.conversation_id, "status": result.word, "question": asked}
        answer(self._arguments, data, [line(result.word)])
        self.note_question()
        return result.status

    def note_question(self) -> None:
        """Print what it asks to be allowed, if it waits."""
        for action in self.transcript.question:
            risk = f" (risk: {action.risk.lower()})" if action.risk else ""
            note(f"it asks to be allowed {action.id} {action.who}: {action.title or action.summary}{risk}")

    async def refusal(self, act: Awaitable[str]) -> int | None:
        """Print the result of an answer; returns the exit status if nothing was sent because its state is different."""
        shows = f"`quarterdeck conversations show {self.following.conversation_id}` tells."
        try:
            with if_interrupted("Whether it arrived is not known.", shows):
                note(await act)
        except ServiceError as error:
            if error.kind is not ErrorKind.CONFLICT:
                raise
            return self.refuse(words_of(error), error.advice)
        return None

    def refuse(self, words: str, advice: str) -> int:
        """Print why nothing was sent, and the state that does not allow it; returns the exit status."""
        note(words, advice)
        result = self.result
        return self.tell(result) if result is not None and result.status else NOT_KNOWN

    async def wait(self, *, seconds: float | None, begins_within: float = 0.0, accepted: Collection[str] = ()) -> int:
        """Wait for the requested result and print it; returns the exit status.

        A state may be read before the log: a question about what was `accepted` is none.
        """
        loop = asyncio.get_running_loop()
        begins_until = loop.time() + begins_within

        def reached() -> bool:
            result, may_rest = self.result, not self._for_question and loop.time() >= begins_until
            told = not self.transcript.waiting or self.transcript.open_actions.isdisjoint(accepted)
            return result is not None and told and (result.status != 0 or may_rest)

        loop.call_at(begins_until, self._news.set)  # beside a live socket there may be no other news for long
        if not await self.until(reached, seconds) or (result := self.result) is None:
            note("The time is up.")
            word = self.result.word if self.result is not None else self.transcript.status
            return self.tell(Result(word or "not known", TIME_IS_UP))
        status = self.tell(result)
        return 0 if self._for_question and status == NEEDS_SOMEONE else status


@asynccontextmanager
async def _conversation_of(arguments: CommandLine, config: Config) -> AsyncIterator[Conversation]:
    """Open a client for the chosen server, and read the conversation that is named."""
    async with client_for(arguments, config) as client:
        conversation = Conversation(client, arguments)
        await conversation.read()
        yield conversation


async def show(arguments: CommandLine, config: Config) -> int:
    """Print the log, one event per line; with --follow also new events, until a signal or a closed pipe."""
    async with _conversation_of(arguments, config) as conversation:
        printing = _print_log(conversation, arguments)
        return await (until_signal(printing) if arguments.follow else printing)


async def _print_log(conversation: Conversation, arguments: CommandLine) -> int:
    following, told, entries = conversation.following, None, Entries()
    while following.origin is not Origin.GONE and await following.older():
        pass
    if following.note:
        note(following.note)

    def print_new() -> bool:
        nonlocal told
        for event in conversation.transcript.listed_after(told):
            told = event.id
            if arguments.json:
                print_json(event.model_dump(mode="json"), indent=None)
            elif entries.add(event):
                _print(event, following)
        sys.stdout.flush()
        return following.origin is Origin.GONE

    if not print_new():
        conversation.note_question()
        if arguments.follow:
            await conversation.until(print_new)
    gone = conversation.result if following.origin is Origin.GONE else None
    return conversation.tell(gone) if gone is not None else 0


async def send(arguments: CommandLine, config: Config) -> int:
    """Send a message or an answer; a message is not sent to an agent that waits for an answer (status 4)."""
    text = typed_message(arguments.text)
    if arguments.reject is not None and (text is not None or arguments.accept is not None):
        raise CommandError("--reject says what is sent: give it alone.", status=2)
    if arguments.timeout is not None and not arguments.wait:
        raise CommandError("--timeout says how long to wait.", "Add --wait.", status=2)
    if text is None and arguments.accept is None and arguments.reject is None:
        raise CommandError("There is nothing to send.", "Give a text, or - to read it, --accept or --reject.", status=2)
    async with _conversation_of(arguments, config) as conversation:
        answering, transcript = conversation.answering, conversation.transcript
        if (following := conversation.following).agent is None:
            paused = following.record if following.origin is Origin.SANDBOX_PAUSED else None
            resume = f"Resume it first: quarterdeck sandboxes resume {paused.sandbox_id}" if paused is not None else ""
            return conversation.refuse(f"{following.note} Nothing was sent.", resume)
        named = frozenset(filter(None, (arguments.accept or "").split(",")))
        if arguments.reject is not None:
            sending = answering.reject(transcript.open_actions, arguments.reject)
        elif arguments.accept is not None:
            sending = answering.accept(named, saying=text or "")
        elif transcript.waiting:
            advice = "Answer with --accept ID,... or --reject REASON."
            return conversation.refuse("It waits for an answer, so nothing was sent.", advice)
        else:
            sending = answering.send(text or "")
        if (refused := await conversation.refusal(sending)) is not None:
            return refused
        if arguments.wait:
            return await conversation.wait(seconds=arguments.timeout, begins_within=BEGINS_WITHIN, accepted=named)
        if arguments.json:
            conversation.tell(conversation.result or Result(transcript.status, 0))
        return NEEDS_SOMEONE if transcript.waiting and not arguments.accept else 0


async def stop(arguments: CommandLine, config: Config) -> int:
    """Stop the agent, during its step if possible, and wait until it has stopped."""
    async with _conversation_of(arguments, config) as conversation:
        if (result := conversation.result) is not None:
            if result.status == NEEDS_SOMEONE:
                note("It waits for an answer and does nothing, so nothing was stopped.")
            return conversation.tell(result)
        if (refused := await conversation.refusal(conversation.answering.stop())) is not None:
            return refused
        return await conversation.wait(seconds=STOPS_WITHIN)


async def wait(arguments: CommandLine, config: Config) -> int:
    """Wait until the agent is done (0) or needs somebody (4), or until it asks, and print the result.

    The time until the server answers counts.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(arguments.timeout) as limit, _conversation_of(arguments, config) as conversation:
            end = limit.when()
            limit.reschedule(None)
            return await conversation.wait(seconds=None if end is None else end - loop.time())
    except TimeoutError:
        raise CommandError("The time is up, and the server has not answered yet.", status=TIME_IS_UP) from None


def _print(event: Event, following: Following) -> None:
    for entry in Entries([event]).listed:
        moment = following.moment(event.timestamp)
        time = moment.strftime("%Y-%m-%d %H:%M:%S") if moment is not None else ""
        say(time, entry.who, _words(entry))


def _words(entry: Entry) -> str:
    """Return everything in an entry as one line."""
    tasks = "; ".join(f"{task.status} {task.title}" for task in entry.tasks)
    failed = f"failed{'' if entry.exit_code is None else f' ({entry.exit_code})'}:"
    outcome = {Outcome.FAILED: failed, Outcome.RUNS_ON: "runs on:"}.get(entry.outcome) if entry.outcome else None
    said = entry.said and f'"{entry.said}"'
    return " ".join(filter(None, (entry.title, said, tasks, outcome, entry.text)))
