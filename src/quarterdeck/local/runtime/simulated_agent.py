"""A simulated agent in one conversation: what it says and does over time, and how it reacts to people."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

from fastapi import HTTPException

from quarterdeck.client.models.enums import ExecutionStatus as Status
from quarterdeck.local.events import CONTEXT, DELTA, DOLLARS_PER_TOKEN, NEVER, Policy, message, new_event, text_part
from quarterdeck.local.runtime.script import RISKS, SCENES, Answer, Call, answers, first_prompt
from quarterdeck.local.store import Record

RISKY = Policy(kind="ConfirmRisky", threshold="HIGH")
_THINKS = (0.8, 3.0)
"""Minimum and maximum seconds before a model's first word."""
_BETWEEN_WORDS = 0.08
_BETWEEN_RUNS = (60.0, 1500.0)
INTERRUPTED = "Tool call interrupted before completion. The conversation was paused."
_LAST_OF = {Status.WAITING_FOR_CONFIRMATION: SCENES.questions, Status.ERROR: SCENES.failures}
"""The last answer that leads to each status."""
_BEFORE = {Status.IDLE: Status.FINISHED, Status.PAUSED: Status.RUNNING, Status.STUCK: Status.RUNNING}
"""The status before these statuses."""


class Action(NamedTuple):
    """A tool call, and the event that announced it."""

    event: Record
    call: Call

    @property
    def about(self) -> Record:
        """The members by which events refer to it."""
        return {name: self.event[name] for name in ("tool_name", "tool_call_id")}


class SimulatedAgent:
    """One conversation; `now` changes only in `pass_time`, and `told` collects new events until they are taken."""

    def __init__(self, rng: Random, now: datetime) -> None:
        self.now = now
        self.status = Status.IDLE
        self.policy = rng.choice((RISKY, RISKY, NEVER))
        self.cost = 0.0
        self.told: list[Record] = []
        self._waiting: Sequence[Action] = ()
        """The actions that wait to be accepted or refused."""
        self._at_work: Sequence[Action] = ()
        """The actions that are running or will run next."""
        self._rng = rng
        self._context = 3_000
        self._answers = answers(rng)
        self._work: Iterator[float] = iter(())
        """What the agent does until it rests; yields the seconds until it continues."""
        self._due: datetime | None = None
        """When it continues; None while it rests."""
        self._streams = True
        self._tell("SystemPromptEvent", "agent")  # the system prompt comes first

    # Time

    def pass_time(self, until: datetime) -> None:
        """Simulate until that time."""
        while self._due and self._due <= until:
            self.now = self._due
            self._work_on()
        self.now = max(self.now, until)

    def shift(self, pause: timedelta) -> None:
        """Shift everything that is due, because no time passed for it."""
        self.now += pause
        self._due = self._due and self._due + pause

    def _work_on(self) -> None:
        seconds = next(self._work, None)
        self._due = None if seconds is None else self.now + timedelta(seconds=seconds)

    # Requests of people

    def say(self, parts: Sequence[Record], *, run: bool) -> None:
        """Add a message."""
        if self.status in (Status.FINISHED, Status.STUCK):
            self._become(Status.IDLE)
        self._tell("MessageEvent", "user", **message("user", parts))
        if run and self.status is not Status.RUNNING:
            self.go_on()

    def go_on(self) -> None:
        """Do the pending actions, or answer the last message. Raises `HTTPException` (409) if already running."""
        if self.status is Status.RUNNING:
            raise HTTPException(409, "Conversation already running. Wait for completion or pause first.")
        if self.status is not Status.FINISHED:
            actions, self._waiting = self._waiting, ()
            self._become(Status.RUNNING)
            self._work = self._run(actions)
            self._work_on()

    def interrupt(self) -> None:
        """Stop at once, even during a tool call."""
        if self.status is Status.RUNNING:
            for action in self._at_work:
                self._fail(action, INTERRUPTED)
            self._due, self._at_work = None, ()
            self._tell("InterruptEvent", "user")
            self._become(Status.PAUSED)

    def accept(self) -> None:
        """Do the pending actions, if any."""
        if self._waiting:
            self.go_on()

    def reject(self, reason: str) -> None:
        """Refuse the pending actions, if any; the agent then rests."""
        if self._waiting:
            actions, self._waiting = self._waiting, ()
            self._become(Status.IDLE)
            for action in actions:
                said = {"rejection_reason": reason, "rejection_source": "user", "action_id": action.event["id"]}
                self._tell("UserRejectObservation", "environment", **action.about, **said)

    def ask(self, policy: Policy) -> None:
        """Set when the agent asks from now on."""
        self.policy = policy
        self._state("confirmation_policy", policy.model_dump())

    # The agent

    def _run(self, accepted: Sequence[Action]) -> Iterator[float]:
        """Do the accepted actions, then ask the model and follow its answers until the agent rests."""
        yield from self._do(accepted)
        while self.status is Status.RUNNING:
            answer = next(self._answers)
            yield from self._speak(answer)
            self._spend()
            if answer.error:
                code, detail = answer.error
                self._tell("ConversationErrorEvent", "environment", code=code, detail=detail)
                self._become(Status.ERROR)
            elif answer.calls:
                actions = self._begin(answer)
                if any(map(self._asks_about, answer.calls)):
                    self._waiting = actions
                    self._become(Status.WAITING_FOR_CONFIRMATION)
                else:
                    yield from self._do(actions)
            else:
                reasoning = {"reasoning_content": answer.reasoning} if answer.reasoning else {}
                said = message("assistant", [text_part(answer.text)], **reasoning)
                self._tell("MessageEvent", "agent", **said)
                self._become(Status.FINISHED)

    def _speak(self, answer: Answer) -> Iterator[float]:
        """Let the model think; its words are streamed before the complete answer."""
        yield self._rng.uniform(*_THINKS)
        if self._streams:
            self._tell(DELTA, "agent", content="")
            for member, text in (("reasoning_content", answer.reasoning), ("content", answer.text)):
                for piece in re.findall(r"(?:\S+\s*){1,3}", text):
                    yield _BETWEEN_WORDS
                    self._tell(DELTA, "agent", **{member: piece})

    def _do(self, actions: Sequence[Action]) -> Iterator[float]:
        """Run the tools, one after another."""
        self._at_work = actions
        for action in actions:
            yield action.call.seconds
            self._at_work = self._at_work[1:]
            self._end(action)
        if actions and actions[-1].call.tool == "finish":
            self._become(Status.FINISHED)

    def _asks_about(self, call: Call) -> bool:
        if call.tool in ("finish", "think") or self.policy.kind == NEVER.kind:
            return False
        return self.policy.kind == "AlwaysConfirm" or call.risk in RISKS[RISKS.index(self.policy.threshold) :]

    def _begin(self, answer: Answer) -> Sequence[Action]:
        """Announce all calls of an answer; the thought is part of the first."""
        actions: list[Action] = []
        for call in answer.calls:
            event = self._tell(
                "ActionEvent",
                "agent",
                thought=[text_part("" if actions else answer.text)],
                reasoning_content="" if actions else answer.reasoning,
                action={**call.action, "kind": f"{call.kind}Action"} if call.kind else None,
                tool_name=call.tool,
                tool_call_id=f"call_{self._rng.getrandbits(48):012x}",
                tool_call={"arguments": json.dumps(call.action)},
                security_risk=call.risk,
                summary=call.summary,
            )
            actions.append(Action(event, call))
        return actions

    def _end(self, action: Action) -> None:
        if (observed := action.call.observed) is None:
            self._fail(action, action.call.error)
        else:
            observation = {**observed, "kind": f"{action.call.kind}Observation"}
            about = {**action.about, "action_id": action.event["id"]}
            self._tell("ObservationEvent", "environment", **about, observation=observation)

    def _fail(self, action: Action, error: str) -> None:
        self._tell("AgentErrorEvent", "agent", **action.about, error=error)

    # Events

    @property
    def stats(self) -> Record:
        """The cost by purpose of the model calls, as events contain it."""
        usage = {"per_turn_token": self._context, "context_window": CONTEXT}
        return {"agent": {"accumulated_cost": round(self.cost, 4), "accumulated_token_usage": usage}}

    def _spend(self) -> None:
        tokens = self._rng.randint(180, 900)
        self._context += tokens
        if self._streams:  # otherwise this is the past, whose cost is known
            self.cost += (self._context // 10 + tokens) * DOLLARS_PER_TOKEN
        self._state("stats", {"usage_to_metrics": self.stats})

    def _become(self, status: Status) -> None:
        if status is not self.status:
            self.status = status
            self._state("execution_status", status.value)

    def _state(self, key: str, value: Any) -> None:
        self._tell("ConversationStateUpdateEvent", "environment", key=key, value=value)

    def _tell(self, kind: str, source: str, **members: Any) -> Record:
        event_id = str(UUID(int=self._rng.getrandbits(128), version=4))
        event = new_event(kind, source, event_id, self.now, **members)
        self.told.append(event)
        return event

    # The past

    def simulate_past(self, title: str, end: Status) -> None:
        """Simulate the past of a conversation up to a status, so that its last event has the time it began with."""
        began, policy = self.now, self.policy
        self._streams, self.policy = False, NEVER
        self.say([text_part(first_prompt(title))], run=True)
        for _ in range(self._rng.choice((0, 0, 1, 1, 2, 6))):
            self._until(Status.FINISHED)
            self.now += timedelta(seconds=self._rng.uniform(*_BETWEEN_RUNS))
            self._prompt(run=True)
        for _ in range(self._rng.randint(3, 12)):
            if self._due:
                self.pass_time(self._due)
        if scenes := _LAST_OF.get(end):
            self._answers = chain([self._rng.choice(scenes)], self._answers)
        self.policy = RISKY if end is Status.WAITING_FOR_CONFIRMATION else policy
        self._until(_BEFORE.get(end, end))
        if end is Status.IDLE:
            self._prompt(run=False)
        elif end is Status.PAUSED:
            self.interrupt()
        elif end is Status.STUCK:
            self._due = None
            self._become(end)
        ago, self._streams = self.now - began, True
        self.shift(-ago)
        for event in self.told:
            event["timestamp"] = (datetime.fromisoformat(event["timestamp"]) - ago).isoformat(timespec="microseconds")

    def _prompt(self, *, run: bool) -> None:
        self.say([text_part(self._rng.choice(SCENES.prompts))], run=run)

    def _until(self, end: Status) -> None:
        """Continue until that status; everything that is asked about is done."""
        while self.status is not end:
            if self._due:
                self.pass_time(self._due)
            else:
                self.say([text_part("Please go on.")], run=True)
