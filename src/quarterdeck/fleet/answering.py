"""Sends messages and answers to an agent, and makes sure that nothing runs that the person did not accept.

No server lets an answer name the action it is for, and a message sent with `run` also runs the pending actions
(SERVERS.md: answers to an agent). So a message is always sent without `run`, and status and pending actions are read
again right before an answer is sent.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from uuid import uuid4

from quarterdeck.client.agent_server import ALWAYS, NEVER, AgentServer
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.event import ActionEvent, Event, Policy, RejectionEvent, StateEvent
from quarterdeck.fleet.entries import Entries, Entry, EntryKind
from quarterdeck.fleet.following import Following, Origin
from quarterdeck.fleet.transcript import HELD, NOT_KNOWN, SENDING

SETTLES = 0.4
"""Seconds between two tries."""
TOLD_WITHIN = 4
"""How many times the log is read until it must show what was accepted."""
READ_WITHIN = 60.0
"""Seconds within which a log that cannot be read must be read again to look for a message."""
ENDS_WITHIN = 40.0
"""Seconds within which a server has finished a run; until then it refuses a new one, even if the agent reads as ready.
"""
RAN_OTHERS = (
    "Somebody else answered at the same moment, and something else was run than what you accepted; it was stopped."
)
STOPPED = "You have stopped it since; r lets it go on, and it reads your message then."
OTHERS_ANSWERED = "Somebody else answered at the same moment; it was not rejected."
WAITING = ExecutionStatus.WAITING_FOR_CONFIRMATION


class Answering:
    """Sends messages and answers to the agent of one conversation, one at a time. Every failure is a ServiceError."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._busy = asyncio.Lock()
        self.note = ""
        """A sentence that says why the agent has not yet done what was sent."""
        self._stops = 0
        """How often a person has stopped the agent: what was sent before must not start it again."""

    async def send(self, text: str) -> str:
        """Send a message, let the agent continue if no action is pending, and return a sentence about the result.

        If the response is lost, the message is searched for in the log for as long as a tool may delay it; it is never
        sent twice.
        """
        agent, transcript, stops = self._agent(), self._following.transcript, self._stops
        how_far, outgoing = SENDING if transcript.under_way is None else HELD, transcript.outgoing
        message = Entry(uuid4().hex, EntryKind.PERSON, self._following.now, "you", how_far, text)
        outgoing[message.id] = message
        try:
            if (error := await _lost(agent.send(text))) is not None:
                await self._look_for(message, error)
        except ServiceError:
            outgoing.pop(message.id, None)
            raise
        try:
            await self._following.catch_up()
            outgoing.pop(message.id, None)
            async with self._alone():
                why_not = await self._run_if_nothing_waits(agent, stops)
        except ServiceError as error:
            why_not = f"Whether the agent goes on is not known: {error.cause}"
        return "Sent." if why_not is None else f"Sent. {why_not}"

    async def accept(self, shown: frozenset[str], *, saying: str = "", all_that_follow: bool = False) -> str:
        """Let the agent do the actions that were shown; sends nothing if other actions are pending by now.

        `saying` is a message that is sent first; an error after that has the outcome APPLIED. `all_that_follow` stops
        the agent from asking again; this is taken back if the actions could not be accepted.
        """
        async with self._alone():
            agent, policy = await self._still(shown), self._following.transcript.policy
            if saying:
                await agent.send(saying)
            try:
                if all_that_follow:
                    await agent.set_policy(NEVER)
                accepted = await self._accept(agent, shown)
                return "Sent and accepted." if saying else accepted
            except ServiceError as error:
                if all_that_follow:
                    await self._ask_again(agent, policy or ALWAYS, error)
                if not saying:
                    raise
                words = f"Your message was sent. {error.words}"
                raise replace(error, words=words, outcome=Outcome.APPLIED) from None

    async def _ask_again(self, agent: AgentServer, policy: Policy, because: ServiceError) -> None:
        """Restore the policy after a failed answer; if that fails too, raises ServiceError with both facts."""
        try:
            await agent.set_policy(policy)
        except ServiceError:
            words = f"{because.words} The agent may not ask any more before it acts."
            raise ServiceError(because.kind, words, "f2 has it ask again.", outcome=Outcome.UNKNOWN) from None

    async def _accept(self, agent: AgentServer, shown: frozenset[str]) -> str:
        """Let the agent do exactly these actions.

        An agent that has only just begun to wait can miss an answer although its server confirms it. The answer is then
        sent again, if the log shows that the agent still waits with the same actions.
        """
        transcript = self._following.transcript
        async for _ in self._tries():
            await self._still(shown)
            last = transcript.last_id
            try:
                lost = await _lost(agent.answer(accept=True))
            finally:
                await self._following.catch_up()
            if _ran_others(transcript.listed_after(last), shown):
                await agent.interrupt()
                raise ServiceError(ErrorKind.CONFLICT, RAN_OTHERS, "Check what it did.")
            if await self._shows(_ran_since, last):
                if _was_rejected(transcript.listed_after(last)):
                    raise ServiceError(ErrorKind.CONFLICT, "Somebody else rejected it at the same moment.")
                return "Accepted."
            if lost is not None:
                raise lost
        raise ServiceError(ErrorKind.CONFLICT, "The agent server affirms the answer, and the agent still waits.")

    async def reject(self, shown: frozenset[str], reason: str = "") -> str:
        """Refuse the actions that were shown; the agent receives the reason as a message and continues with it."""
        async with self._alone():
            agent, last = await self._still(shown), self._following.transcript.last_id
            lost = await _lost(agent.answer(accept=False))
            if not await self._shows(_was_rejected, last):
                raise lost or ServiceError(ErrorKind.CONFLICT, OTHERS_ANSWERED)
        if not reason:
            return "Rejected; the agent rests until you write to it."
        try:
            await self.send(reason)
        except ServiceError as error:
            words = f"Rejected, but your reason was not sent: {error.words}"
            raise replace(error, words=words, outcome=Outcome.NOT_APPLIED) from None
        return "Rejected, and your reason sent."

    async def stop(self) -> str:
        """Stop the agent: during its step if the server can do that, otherwise after the step."""
        agent = self._agent()
        self._stops += 1
        try:
            await agent.interrupt()
            words = "Stopped."
        except ServiceError as error:
            if error.kind is not ErrorKind.NOT_OFFERED:
                raise
            await agent.pause()
            words = "This agent server stops only after a step; it was asked to."
        with suppress(ServiceError):  # it was done, whatever can be read
            await self._following.catch_up()
        return words

    async def go_on(self) -> str:
        """Let a stopped agent continue; never one that waits for an answer."""
        async with self._alone():
            agent = self._agent()
            if await self._status(agent) == ExecutionStatus.FINISHED:
                raise _not_sent("It had finished; a message makes it go on.")
            if (why_not := await self._run_if_nothing_waits(agent, self._stops)) is not None:
                raise _not_sent(why_not)
            return "It was asked to go on."

    async def set_policy(self, policy: Policy) -> str:
        """Set when the agent asks from now on."""
        agent = self._agent()
        await agent.set_policy(policy)
        with suppress(ServiceError):
            await self._status(agent)
        return "It asks this way until the agent server restarts."

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        async with self._busy:
            try:
                yield
            finally:
                self.note = ""

    async def _tries(self) -> AsyncIterator[None]:
        """Yield once per try, for as long as the server may still be finishing its last run."""
        loop = asyncio.get_running_loop()
        until = loop.time() + ENDS_WITHIN
        while loop.time() < until:
            yield
            self.note = "The server is still ending the last run; the agent goes on as soon as it may."
            await asyncio.sleep(SETTLES)

    async def _look_for(self, message: Entry, error: ServiceError) -> None:
        """Wait until the log shows a message whose sending ended with this error, but not longer than the agent works.

        A log that cannot be read is read again for some time. Raises ServiceError if the message is not found.
        """
        outgoing, rested = self._following.transcript.outgoing, 0
        if message.id not in outgoing:
            return  # the stream was faster than the answer
        outgoing[message.id] = message._replace(title=NOT_KNOWN)
        clock = asyncio.get_running_loop().time
        read_at = clock()
        while rested < TOLD_WITHIN:
            try:
                status = await self._status(self._agent())
            except ServiceError:
                if clock() > read_at + READ_WITHIN:
                    words = "The log cannot be read, so it is not known whether your message arrived."
                    advice = "Look there before you send it again."
                    raise ServiceError(error.kind, words, advice, outcome=Outcome.UNKNOWN) from None
            else:
                if message.id not in outgoing:
                    return
                rested, read_at = rested + (status != ExecutionStatus.RUNNING), clock()
            await asyncio.sleep(SETTLES)
        raise ServiceError(error.kind, f"{error.cause} The log does not have your message.", "Send it again.")

    def _agent(self) -> AgentServer:
        agent = self._following.agent
        if agent is None:
            why_not = self._following.note or "The conversation is still being opened."
            remedy = "; esc, then r resumes it" if self._following.origin is Origin.SANDBOX_PAUSED else ""
            raise _not_sent(f"{why_not} Nothing was sent{remedy}.")
        return agent

    async def _status(self, agent: AgentServer) -> str:
        """Return the current status; the log is read after the state, so that the log's newest status wins."""
        transcript = self._following.transcript
        transcript.state(await agent.state())
        await self._following.catch_up()
        return transcript.status

    async def _run_if_nothing_waits(self, agent: AgentServer, stops: int) -> str | None:
        """Let the agent continue if no action is pending and nobody stopped it since; else return why not."""
        async for _ in self._tries():
            status = await self._status(agent)
            if status == WAITING:
                return "It waits for an answer to what it asks."
            if status == ExecutionStatus.RUNNING:
                return None
            if self._following.transcript.open_actions:
                return "It does not continue: actions that nobody accepted are pending."
            if self._stops != stops:
                return STOPPED
            try:
                await agent.run()
            except ServiceError as error:
                if error.kind is not ErrorKind.CONFLICT:
                    raise
            else:
                with suppress(ServiceError):  # it goes on, whatever can be read
                    await self._following.catch_up()
                return None
        return "The agent does not start."

    async def _still(self, shown: frozenset[str]) -> AgentServer:
        """Return the agent if it waits with exactly these actions; raises ServiceError(CONFLICT) otherwise."""
        agent = self._agent()
        try:
            status = await self._status(agent)
        except ServiceError as error:
            words = f"It could not be read whether it still waits, so no answer was sent now: {error.words}"
            raise replace(error, words=words, outcome=Outcome.NOT_SENT) from None
        if status != WAITING:
            raise _not_sent("It did not wait for an answer; none was sent.")
        asked = self._following.transcript.open_actions
        if asked != shown:
            what = "more than that" if shown < asked else "something else by now"
            raise _not_sent(f"It asks for {what}; no answer was sent.")
        return agent

    async def _shows(self, what: Callable[[Iterable[Event]], bool], last: str | None) -> bool:
        """Whether the log shows something, now or after a few more reads, after that event."""
        for _ in range(TOLD_WITHIN):
            await self._following.catch_up()
            if what(self._following.transcript.listed_after(last)):
                return True
            await asyncio.sleep(SETTLES)
        return False


async def _lost(response: Awaitable[None]) -> ServiceError | None:
    """Await a response; returns the error if it was lost, so that the log decides."""
    try:
        await response
    except ServiceError as error:
        if error.outcome is not Outcome.UNKNOWN:
            raise
        return error
    return None


def _ran_since(events: Iterable[Event]) -> bool:
    """Whether the agent ran."""
    return bool({each.state.execution_status for each in events if isinstance(each, StateEvent)} - {"", WAITING})


def _ran_others(events: Iterable[Event], shown: frozenset[str]) -> bool:
    """Whether the log shows, after an answer to `shown`, a run that began while other actions were pending."""
    waiting, begun = False, set[str]()
    for event in events:
        if isinstance(event, ActionEvent):
            begun.add(event.id)
        elif isinstance(event, StateEvent) and (status := event.state.execution_status):
            if status == ExecutionStatus.RUNNING and waiting and begun - shown:
                return True
            waiting = status == WAITING
    return False


def _was_rejected(events: Iterable[Event]) -> bool:
    """Whether a person rejected something; that is also noted of an action that had its result before."""
    log = Entries()
    shown = (event for event in events if log.add(event))
    return any(isinstance(event, RejectionEvent) and event.rejection_source != "hook" for event in shown)


def _not_sent(words: str) -> ServiceError:
    return ServiceError(ErrorKind.CONFLICT, words, outcome=Outcome.NOT_SENT)
