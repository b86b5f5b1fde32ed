"""What a person says to an agent, and what that may set off: nothing runs that the person did not agree to.

No server takes the name of an action with an answer, and on every one a message that runs also runs what the agent
waits with. So a message never runs anything by itself, and status and actions are read again right before an answer.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from uuid import uuid4

from quarterdeck.client.agent_server import ALWAYS, NEVER, AgentServer
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.event import ActionEvent, Event, Policy, StateEvent
from quarterdeck.fleet.entries import Entry, EntryKind
from quarterdeck.fleet.following import Following
from quarterdeck.fleet.transcript import HELD, NOT_KNOWN, SENDING

SETTLES = 0.4
"""Seconds between two tries."""
TOLD_WITHIN = 4
"""Tries in which a log tells of what was accepted."""
ENDS_WITHIN = 40.0
"""Seconds in which a server has ended a run for good; until then it takes no other, though the agent reads as ready."""
RAN_OTHERS = (
    "Somebody else answered at the same moment, and something else was run than what you accepted; it was stopped."
)
WAITING = ExecutionStatus.WAITING_FOR_CONFIRMATION


class Answering:
    """Talks to the agent of one conversation; one thing at a time. Every failure is a ServiceError."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._busy = asyncio.Lock()
        self.note = ""
        """Why the agent does not do yet what was sent, a sentence."""

    async def send(self, text: str) -> str:
        """Send a message and let the agent go on if it waits with nothing; gives a sentence of what came of it.

        One whose answer is lost is looked for in the log, for as long as a tool may hold it; it is never sent twice.
        """
        agent, transcript = self._agent(), self._following.transcript
        how_far, outgoing = SENDING if transcript.under_way is None else HELD, transcript.outgoing
        message = Entry(uuid4().hex, EntryKind.PERSON, self._following.now, "you", how_far, text)
        outgoing[message.id] = message
        try:
            await agent.send(text)
        except ServiceError as error:
            if error.outcome is not Outcome.UNKNOWN or not await self._arrives(message):
                outgoing.pop(message.id, None)
                raise
        try:
            await self._following.catch_up()
            outgoing.pop(message.id, None)
            async with self._alone():
                why_not = await self._run_if_nothing_waits(agent)
        except ServiceError as error:
            why_not = f"Whether the agent goes on is not known: {error.words}"
        return "Sent." if why_not is None else f"Sent. {why_not}"

    async def accept(self, shown: frozenset[str], *, saying: str = "", all_that_follow: bool = False) -> str:
        """Let the agent do the actions that were shown; sends nothing if it waits with others by now.

        It may be told something before, and to do `all_that_follow` without asking again, unless it is not accepted.
        """
        async with self._alone():
            agent, policy = await self._still(shown), self._following.transcript.policy
            if saying:
                await agent.send(saying)
            try:
                if all_that_follow:
                    await agent.set_policy(NEVER)
                return await self._accept(agent, shown)
            except ServiceError as error:
                if all_that_follow:
                    await self._ask_again(agent, policy or ALWAYS, error)
                raise

    async def _ask_again(self, agent: AgentServer, policy: Policy, because: ServiceError) -> None:
        """Have the agent ask as before; raises what went wrong with more words where that is not known to be so."""
        try:
            await agent.set_policy(policy)
        except ServiceError:
            words = f"{because.words} The agent may not ask any more before it acts."
            raise ServiceError(because.kind, words, "f2 has it ask again.", outcome=Outcome.UNKNOWN) from None

    async def _accept(self, agent: AgentServer, shown: frozenset[str]) -> str:
        """Let the agent do just these actions.

        One that has just begun to wait overhears an answer, which its server affirms: it is said again, where the log
        shows that the agent still waits with the same actions.
        """
        transcript = self._following.transcript
        async for _ in self._tries():
            await self._still(shown)
            last = transcript.last_id
            try:
                await agent.answer(accept=True)
            finally:
                await self._following.catch_up()
            if _ran_others(transcript.listed_after(last), shown):
                await agent.interrupt()
                raise ServiceError(ErrorKind.CONFLICT, RAN_OTHERS, "Look at what it did.")
            if await self._taken(last):
                return "Accepted."
        raise ServiceError(ErrorKind.CONFLICT, "The agent server affirms the answer, and the agent still waits.")

    async def reject(self, shown: frozenset[str], reason: str = "") -> str:
        """Refuse the actions that were shown; a reason goes to the agent as a message, with which it goes on."""
        async with self._alone():
            agent = await self._still(shown)
            await agent.answer(accept=False)
            await self._following.catch_up()
        if reason:
            await self.send(reason)
            return "Rejected, and your reason sent."
        return "Rejected; the agent rests until you write to it."

    async def stop(self) -> str:
        """Stop the agent: in the middle of its step where it can be, else after it."""
        agent = self._agent()
        try:
            await agent.interrupt()
            words = "Stopped."
        except ServiceError as error:
            if error.kind is not ErrorKind.NOT_OFFERED:
                raise
            await agent.pause()
            words = "This agent server stops only after a step; it was asked to."
        await self._following.catch_up()
        return words

    async def go_on(self) -> str:
        """Let an agent go on that was stopped; never one that waits for an answer."""
        async with self._alone():
            agent = self._agent()
            if await self._status(agent) == ExecutionStatus.FINISHED:
                raise _not_sent("It has finished; a message makes it go on.")
            if (why_not := await self._run_if_nothing_waits(agent)) is not None:
                raise _not_sent(why_not)
            return "It goes on."

    async def set_policy(self, policy: Policy) -> str:
        """Say when it asks from now on."""
        agent = self._agent()
        await agent.set_policy(policy)
        await self._status(agent)
        return "It is so until the agent server starts anew."

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        async with self._busy:
            try:
                yield
            finally:
                self.note = ""

    async def _tries(self) -> AsyncIterator[None]:
        """Again and again, as long as a server may still be ending its last run."""
        loop = asyncio.get_running_loop()
        until = loop.time() + ENDS_WITHIN
        while loop.time() < until:
            yield
            self.note = "The server is still ending the last run; the agent goes on as soon as it may."
            await asyncio.sleep(SETTLES)

    async def _arrives(self, message: Entry) -> bool:
        """Whether the log has a message, once the agent rests; raises ServiceError where it cannot be read."""
        outgoing, rested = self._following.transcript.outgoing, 0
        outgoing[message.id] = message._replace(title=NOT_KNOWN)
        while rested < TOLD_WITHIN:
            status = await self._status(self._agent())
            if message.id not in outgoing:
                return True
            rested += status != ExecutionStatus.RUNNING
            await asyncio.sleep(SETTLES)
        return False

    def _agent(self) -> AgentServer:
        agent = self._following.agent
        if agent is None:
            raise _not_sent(self._following.note or "Its agent server is not reached, so nothing can be sent.")
        return agent

    async def _status(self, agent: AgentServer) -> str:
        """How it is right now; the log is read after the state, so that its own last word is not older."""
        transcript = self._following.transcript
        transcript.state(await agent.state())
        await self._following.catch_up()
        return transcript.status

    async def _run_if_nothing_waits(self, agent: AgentServer) -> str | None:
        """Let the agent go on unless it would do what nobody accepted: then gives a sentence that says so."""
        async for _ in self._tries():
            status = await self._status(agent)
            if status == WAITING:
                return "It waits for an answer to what it asks."
            if status == ExecutionStatus.RUNNING:
                return None
            if self._following.transcript.open_actions:
                return "It does not go on: it has begun actions which nobody has accepted."
            try:
                await agent.run()
            except ServiceError as error:
                if error.kind is not ErrorKind.CONFLICT:
                    raise
            else:
                await self._following.catch_up()
                return None
        return "The agent does not start."

    async def _still(self, shown: frozenset[str]) -> AgentServer:
        """See that the agent waits with just these actions; raises ServiceError(CONFLICT) where it does not."""
        agent = self._agent()
        if await self._status(agent) != WAITING:
            raise _not_sent("It does not wait for an answer any more; nothing was sent.")
        if self._following.transcript.open_actions != shown:
            raise _not_sent("It asks for something else by now; nothing was sent.")
        return agent

    async def _taken(self, last: str | None) -> bool:
        """Whether the log tells of a run after that event, or soon does."""
        for _ in range(TOLD_WITHIN):
            events = self._following.transcript.listed_after(last)
            if any(
                event.state.execution_status not in ("", WAITING) for event in events if isinstance(event, StateEvent)
            ):
                return True
            await asyncio.sleep(SETTLES)
            await self._following.catch_up()
        return False


def _ran_others(events: Iterable[Event], shown: frozenset[str]) -> bool:
    """Whether the log, after an answer to `shown`, has a run that began with other actions waiting."""
    waiting, begun = False, set[str]()
    for event in events:
        if isinstance(event, ActionEvent):
            begun.add(event.id)
        elif isinstance(event, StateEvent) and (status := event.state.execution_status):
            if status == ExecutionStatus.RUNNING and waiting and begun - shown:
                return True
            waiting = status == WAITING
    return False


def _not_sent(words: str) -> ServiceError:
    return ServiceError(ErrorKind.CONFLICT, words, outcome=Outcome.NOT_SENT)
