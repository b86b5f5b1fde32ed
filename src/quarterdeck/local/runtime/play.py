"""A conversation with a simulated agent: what it says and does with time, and what people make it do."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

from quarterdeck.client.models.enums import ExecutionStatus as Status
from quarterdeck.local.errors import AlreadyRunningError
from quarterdeck.local.events import NEVER, last_message, made, message_members, text_part, time_told
from quarterdeck.local.runtime import script
from quarterdeck.local.runtime.script import Answer, Call
from quarterdeck.local.store import Record

RISKY: Record = {"kind": "ConfirmRisky", "threshold": "HIGH", "confirm_unknown": False}
CONTEXT = 200_000
"""Tokens that fit into the model."""
_TOKENS = (180, 900)
"""Between how many tokens an answer makes the context longer."""
_DOLLARS_PER_TOKEN = 4e-6
_THINKS = (0.8, 3.0)
"""Between how many seconds a model takes before its first word."""
_BETWEEN_WORDS = 0.08
_BETWEEN_RUNS = (60.0, 1500.0)
_REPEATS = 3
"""How often an agent does the same before it is stuck."""
INTERRUPTED = "Tool call interrupted before completion. The conversation was paused."
DELTA = "StreamingDeltaEvent"
"""A piece of an answer that is still coming: told to whoever listens, and not kept."""


class Action(NamedTuple):
    """A tool call under its ids."""

    id: str
    call_id: str
    call: Call


class Play:
    """One conversation; `now` only moves in `pass_time`, and `told` collects events until it is taken."""

    def __init__(self, dice: Random, model: str | None, now: datetime) -> None:
        self.now = now
        self.status = Status.IDLE
        self.policy: Mapping[str, Any] = dict(dice.choice((RISKY, RISKY, NEVER)))
        self.cost = 0.0
        self.told: list[Record] = []
        self.waiting: tuple[Action, ...] = ()
        """What is to be accepted or refused."""
        self.at_work: tuple[Action, ...] = ()
        """What the tools are at, and what comes after it; a message is not taken meanwhile."""
        self._dice = dice
        self._model = model
        self._context = 3_000
        self._answers = script.answers(dice)
        self._next: Answer | None = None
        """What the model answers before anything else."""
        self._coming: Answer | None = None
        """What the model was stopped at, and answers when it is asked again."""
        self._work: Iterator[float] = iter(())
        """What the agent does until it rests, each time giving the seconds until it goes on."""
        self._due: datetime | None = None
        """When it goes on; None while it rests."""
        self._streams = True
        self._pausing = False
        self._stored: list[str] = []
        """Ids of all that was told."""

    # Time

    def pass_time(self, until: datetime) -> None:
        """Let happen what is due by then."""
        while self._due and self._due <= until:
            self.now = self._due
            self._work_on()
        self.now = max(self.now, until)

    def put_off(self, pause: timedelta) -> None:
        """Let all that is coming come so much later: nothing went on meanwhile."""
        self.now += pause
        self._due = self._due and self._due + pause

    def _work_on(self) -> None:
        seconds = next(self._work, None)
        self._due = None if seconds is None else self.now + timedelta(seconds=seconds)

    # What people do

    def say(self, parts: Sequence[Record], *, run: bool) -> None:
        """Take a message."""
        if self.status in (Status.FINISHED, Status.STUCK):
            self._become(Status.IDLE)
        said = self._tell("MessageEvent", "user", **message_members("user", parts))
        self.told.append(last_message(said["id"], self._new_id(), self.now))
        if run and self.status is not Status.RUNNING:
            self.go_on()

    def go_on(self) -> None:
        """Run: do what waits, else think about what was said. Raises `AlreadyRunningError`."""
        if self.status is Status.RUNNING:
            raise AlreadyRunningError("Conversation already running. Wait for completion or pause first.")
        if self.status is not Status.FINISHED:
            actions, self.waiting = self.waiting, ()
            self._pausing = False
            self._become(Status.RUNNING)
            self._work = self._run(actions)
            self._work_on()

    def pause(self) -> None:
        """Stop: after the tools that are at work, else at once."""
        if self.at_work:
            self._pausing = True
        elif self.status not in (Status.FINISHED, Status.WAITING_FOR_CONFIRMATION, Status.PAUSED):
            self._stop("PauseEvent")

    def interrupt(self) -> None:
        """Stop at once, in the middle of a tool."""
        if self.status is Status.RUNNING:
            for action in self.at_work:
                self._fail(action, INTERRUPTED)
            self._stop("InterruptEvent")

    def accept(self) -> None:
        """Do what waits, if anything does."""
        if self.waiting:
            self.go_on()

    def reject(self, reason: str) -> None:
        """Do not do what waits, if anything does; the agent rests then."""
        if self.waiting:
            actions, self.waiting = self.waiting, ()
            self._become(Status.IDLE)
            for action in actions:
                about = {"tool_name": action.call.tool, "tool_call_id": action.call_id}
                said = {"rejection_reason": reason, "rejection_source": "user", "action_id": action.id}
                self._tell("UserRejectObservation", "environment", **about, **said)

    def ask(self, policy: Mapping[str, Any]) -> None:
        """Ask from now on as this says."""
        self.policy = policy
        self._state("confirmation_policy", policy)

    def _stop(self, kind: str) -> None:
        self._due, self.at_work = None, ()
        self._tell(kind, "user")
        self._become(Status.PAUSED)

    # What the agent does

    def _run(self, accepted: Sequence[Action]) -> Iterator[float]:
        """Do what was accepted, then ask the model and do what it answers until the agent rests."""
        yield from self._do(accepted)
        while self.status is Status.RUNNING:
            answer = self._coming = self._next or self._coming or next(self._answers)
            self._next = None
            yield from self._speak(answer)
            self._coming = None
            self._spend()
            if answer.error:
                code, detail = answer.error
                self._tell("ConversationErrorEvent", "environment", code=code, detail=detail)
                self._become(Status.ERROR)
            elif answer.summarised:
                self._condense(answer.summarised)
            elif answer.stuck:
                for action in [action for _ in range(_REPEATS) for action in self._begin(answer)]:
                    self._end(action)
                self._become(Status.STUCK)
            elif answer.calls:
                actions = self._begin(answer)
                if any(map(self._asks_about, answer.calls)):
                    self.waiting = actions
                    self._become(Status.WAITING_FOR_CONFIRMATION)
                else:
                    yield from self._do(actions)
            else:
                self._conclude(answer)

    def _speak(self, answer: Answer) -> Iterator[float]:
        """Let the model think; its words come in pieces, before the answer comes whole."""
        yield self._dice.uniform(*_THINKS)
        if self._streams:
            self._tell_piece(content="")
            for member, text in (("reasoning_content", answer.reasoning), ("content", answer.text)):
                for piece in re.findall(r"(?:\S+\s*){1,3}", text):
                    yield _BETWEEN_WORDS
                    self._tell_piece(**{member: piece})
        yield 0.1

    def _do(self, actions: Sequence[Action]) -> Iterator[float]:
        """Let the tools work, one after the other."""
        self.at_work = tuple(actions)
        for action in actions:
            yield action.call.seconds
            self.at_work = self.at_work[1:]
            self._end(action)
        if actions:
            self._state("stats", self.stats)
        if actions and actions[-1].call.tool == "finish":
            self._become(Status.FINISHED)
        elif self._pausing:
            self._stop("PauseEvent")

    def _asks_about(self, call: Call) -> bool:
        if call.tool in ("finish", "think") or self.policy["kind"] == NEVER["kind"]:
            return False
        if self.policy["kind"] == "AlwaysConfirm":
            return True
        if call.risk not in script.RISKS:
            return bool(self.policy.get("confirm_unknown"))
        return script.RISKS.index(call.risk) >= script.RISKS.index(self.policy.get("threshold", "HIGH"))

    def _begin(self, answer: Answer) -> tuple[Action, ...]:
        """Tell of all calls of one answer; its thought stands at the first."""
        response = self._response_id()
        actions = []
        for place, call in enumerate(answer.calls):
            call_id = f"call_{self._dice.getrandbits(48):012x}"
            members: Record = {"thought": [text_part(answer.text if place == 0 else "")]}
            if answer.reasoning and place == 0:
                members["reasoning_content"] = answer.reasoning
            if call.kind:
                members["action"] = {**call.action, "kind": f"{call.kind}Action"}
            written = {"name": call.tool, "arguments": call.arguments, "origin": "completion"}
            event = self._tell(
                "ActionEvent",
                "agent",
                **members,
                thinking_blocks=[],
                tool_name=call.tool,
                tool_call_id=call_id,
                tool_call={"id": call_id, **written},
                llm_response_id=response,
                security_risk=call.risk,
                summary=call.summary,
            )
            actions.append(Action(event["id"], call_id, call))
        return tuple(actions)

    def _end(self, action: Action) -> None:
        call = action.call
        if (observed := call.observed) is None:
            self._fail(action, call.error)
            return
        self._tell(
            "ObservationEvent",
            "environment",
            tool_name=call.tool,
            tool_call_id=action.call_id,
            observation={**observed, "kind": f"{call.kind}Observation"},
            action_id=action.id,
            extended_content=[],
        )

    def _fail(self, action: Action, error: str) -> None:
        self._tell("AgentErrorEvent", "agent", tool_name=action.call.tool, tool_call_id=action.call_id, error=error)

    def _conclude(self, answer: Answer) -> None:
        members = message_members("assistant", [text_part(answer.text)])
        if answer.reasoning:
            members["llm_message"]["reasoning_content"] = answer.reasoning
        self._tell("MessageEvent", "agent", **members, llm_response_id=self._response_id())
        self._become(Status.FINISHED)

    def _condense(self, summary: str) -> None:
        self._tell("CondensationRequest", "environment")
        self._tell(
            "Condensation",
            "environment",
            forgotten_event_ids=self._stored[2:-1][:30],
            summary=summary,
            summary_offset=2,
            llm_response_id=self._response_id(),
        )
        self._context = 6_000

    # What is told

    @property
    def stats(self) -> Record:
        """What it has cost, as it is told."""
        usage = {
            "prompt_tokens": self._context * 4,
            "completion_tokens": self._context // 8,
            "per_turn_token": self._context,
        }
        agent = {
            "model_name": self._model,
            "accumulated_cost": round(self.cost, 4),
            "max_budget_per_task": None,
            "accumulated_token_usage": {"model": self._model, **usage, "context_window": CONTEXT},
        }
        return {"usage_to_metrics": {"agent": agent}}

    def _spend(self) -> None:
        tokens = self._dice.randint(*_TOKENS)
        self._context += tokens
        self.cost += (self._context // 10 + tokens) * _DOLLARS_PER_TOKEN

    def _become(self, status: Status) -> None:
        if status is not self.status:
            self.status = status
            self._state("execution_status", status.value)

    def _state(self, key: str, value: Any) -> None:
        self._tell("ConversationStateUpdateEvent", "environment", key=key, value=value)

    def _tell(self, kind: str, source: str, **members: Any) -> Record:
        event = made(kind, source, self._new_id(), self.now, **members)
        self._stored.append(event["id"])
        self.told.append(event)
        return event

    def _tell_piece(self, **members: str) -> None:
        self.told.append(made(DELTA, "agent", self._new_id(), self.now, **members))

    def _new_id(self) -> str:
        return str(UUID(int=self._dice.getrandbits(128), version=4))

    def _response_id(self) -> str:
        return f"sim-{self._dice.getrandbits(32):08x}"

    # How it came to be as it is

    def introduce(self) -> None:
        """Tell what a model is told before anything."""
        prompt = {"system_prompt": text_part("You are a simulated agent: no model is asked."), "tools": []}
        self._tell("SystemPromptEvent", "agent", **prompt, dynamic_context=text_part(""))

    def rehearse(self, title: str, end: Status) -> None:
        """Play what led to how it is now, all of it in the past, the last of it at the moment it began with."""
        began, self._streams = self.now, False
        self.policy = RISKY if end is Status.WAITING_FOR_CONFIRMATION else self.policy
        self.introduce()
        self.say([text_part(script.first_prompt(title))], run=True)
        for _ in range(self._dice.choice((0, 0, 1, 1, 2, 6))):
            self._until(Status.FINISHED)
            self.now += timedelta(seconds=self._dice.uniform(*_BETWEEN_RUNS))
            self.say([text_part(script.next_prompt(self._dice))], run=True)
        self._end_as(end)
        ago, self._streams = self.now - began, True
        self.put_off(-ago)
        for event in self.told:
            event["timestamp"] = time_told(datetime.fromisoformat(event["timestamp"]) - ago)

    def _until(self, *ends: Status) -> None:
        """Play on until it is so; whatever is asked meanwhile gets an answer, mostly yes."""
        while self.status not in ends:
            if self._due:
                self.pass_time(self._due)
            elif self.waiting:
                self.now += timedelta(seconds=self._dice.uniform(5, 60))
                self.accept() if self._dice.random() < 0.7 else self.reject("Not over what others have pushed, please.")
            else:
                self.say([text_part("Please go on.")], run=True)

    def _end_as(self, end: Status) -> None:
        for _ in range(self._dice.randint(3, 12)):
            if self._due:
                self.pass_time(self._due)
        match end:
            case Status.FINISHED | Status.IDLE:
                self._until(Status.FINISHED)
                if end is Status.IDLE:
                    self.say([text_part(script.next_prompt(self._dice))], run=False)
            case Status.WAITING_FOR_CONFIRMATION:
                self._next = script.one_of(self._dice, "questions")
                self._until(Status.WAITING_FOR_CONFIRMATION)
            case Status.ERROR:
                self._next = script.one_of(self._dice, "failures")
                self._until(Status.ERROR)
            case Status.STUCK:
                self._next = script.one_of(self._dice, "repeated")
                self._until(Status.STUCK)
            case Status.PAUSED:
                self._until(Status.RUNNING)
                self.interrupt()
            case _:
                self._until(Status.RUNNING)
