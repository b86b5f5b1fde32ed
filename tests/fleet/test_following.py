import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from quarterdeck.client.agent_server import NEVER
from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.fleet import answering
from quarterdeck.fleet import following as rules
from quarterdeck.fleet.answering import Answering
from quarterdeck.fleet.following import Following, Origin
from quarterdeck.fleet.transcript import NOT_KNOWN
from tests.client.fakes import FAST, Answer, Asked, Script, client_at, client_of, under_way
from tests.fleet.agent import AGENT, COPY, ID, C, FakeAgent, Telling, telling
from tests.local.conftest import until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "SETTLES", 0.001)
    monkeypatch.setattr(answering, "ENDS_WITHIN", 20.0)


@pytest.fixture
def agent() -> FakeAgent:
    return FakeAgent()


def following(agent: Script) -> Following:
    return Following(client_of(agent)[0], ID, lambda: None, lambda: datetime.now(UTC))


async def test_a_sandbox_that_is_paused_gone_or_of_another_machine_is_said_and_its_copy_shown(agent: FakeAgent) -> None:
    agent.says("kept")
    agent.copy, agent.log = agent.log, []
    for sandbox, host, origin, note in (
        ("PAUSED", AGENT, Origin.SANDBOX_PAUSED, "paused"),
        ("MISSING", AGENT, Origin.COPY, "gone"),
        ("RUNNING", "http://localhost:8000", Origin.COPY, "another machine"),
        ("RUNNING", "http://[::1", Origin.COPY, "cannot be read"),
        ("STARTING", AGENT, Origin.COPY, "Its sandbox is starting."),
        ("UNHEARD", AGENT, Origin.COPY, "where its agent is"),
    ):
        agent.sandbox, agent.host, followed = sandbox, host, following(agent)
        await followed.poll()
        assert (followed.origin, note in followed.note) == (origin, True)
        assert [entry.text for entry in followed.transcript.entries] == ["kept"]


async def test_what_was_read_stays_while_paused_silent_and_deleted_each_look_different(agent: FakeAgent) -> None:
    agent.says("before")
    followed, _ = await talking(agent)
    agent.sandbox, agent.unreached = "PAUSED", True
    await followed.poll()
    assert str(followed.origin) == "sandbox paused"
    agent.says("while nobody looked")
    agent.sandbox, agent.unreached = "STARTING", False  # as idle process sandboxes read nearly always
    await followed.poll()
    assert followed.origin is Origin.POLLING
    assert [entry.text for entry in followed.transcript.entries] == ["before", "while nobody looked"]
    agent.unreached = True
    await followed.poll()
    assert (str(followed.origin), followed.note) == ("no answer", "Its agent server does not answer.")
    agent.sandbox = None
    await followed.poll()
    assert str(followed.origin) == "deleted"
    with pytest.raises(ServiceError):
        await followed.catch_up()
    assert f"GET {COPY}" not in agent.asked
    assert [entry.text for entry in followed.transcript.entries] == ["before", "while nobody looked"]


async def test_a_key_that_a_resume_has_changed_is_not_taken_for_the_key_of_the_connection(agent: FakeAgent) -> None:
    def refuses(asked: Asked) -> Answer | Exception:
        return Answer({"detail": "Unauthorized"}, 401) if asked.path.startswith(C) else agent(asked)

    followed, _ = await talking(refuses)
    assert followed.origin is Origin.SILENT
    assert followed.note == "Its agent server does not take the key that was last read for it."


async def test_all_that_was_said_in_a_sandbox_that_is_gone_is_read_from_the_copy(agent: FakeAgent) -> None:
    agent.says_words(range(1))
    agent.set("running")
    followed, _ = await talking(agent)
    agent.copy, agent.sandbox, agent.unreached = agent.log, "MISSING", True
    for more in (range(1, 120), range(120, 250)):
        agent.says_words(more)
        for _ in more:
            agent.add("StreamingDeltaEvent", "agent", content="a copy lists these, too")
        agent.set("finished")
        await followed.poll()
        assert (followed.origin, followed.transcript.status) == (Origin.COPY, "finished")
    assert [each.text for each in followed.transcript.entries if each.text] == [f"word {each}" for each in range(250)]


async def test_the_sandboxs_clock_is_told_by_what_came_just_now_and_by_no_odd_time(agent: FakeAgent) -> None:
    now, told = datetime(2026, 11, 24, 2, tzinfo=UTC), list[datetime | None]()
    followed = Following(client_of(agent)[0], ID, lambda: None, lambda: now)
    agent.says("two hours behind")
    await followed.poll()
    for text, time, later in (
        ("just now", "2026-11-24T00:00:01", timedelta(seconds=1)),
        ("while this machine slept", "2026-11-24T00:20:00", timedelta(hours=1)),
        ("odd", "9999-12-31T23:59:59", timedelta()),
        ("odd", "0001-01-01T00:00:00", timedelta()),
    ):
        agent.says(text)
        agent.log[-1]["timestamp"], now = time, now + later
        await followed.poll()
        told.append(followed.moment(followed.transcript.latest_at))
    assert [str(each)[8:19] for each in told] == ["24 02:00:01", "24 02:20:00", "31 23:59:59", "01 02:00:00"]
    assert followed.now == now - timedelta(hours=2)


async def test_a_page_of_a_log_that_is_too_large_is_asked_for_in_parts(agent: FakeAgent) -> None:
    agent.says_words(range(100))
    agent.log += [{**event, "id": f"more {event['id']}", "old_content": "x" * 200_000} for event in agent.log]
    followed, _ = await talking(agent)
    assert (followed.origin, followed.transcript.entries[-1].text) == (Origin.POLLING, "word 99")


async def test_a_page_with_nothing_new_that_names_a_next_one_is_not_followed(agent: FakeAgent) -> None:
    def repeats(asked: Asked) -> Answer | Exception:
        answer = agent(asked)
        assert agent.asked.count(f"GET {C}/events/search") < 9, "it is asked for ever"
        return Answer({**answer.body, "next_page_id": "e0"}) if asked.page_id and isinstance(answer, Answer) else answer

    agent.says("hello")
    followed, _ = await talking(repeats)
    await followed.poll()
    assert followed.origin is Origin.POLLING


@asynccontextmanager
async def followed(agent: FakeAgent) -> AsyncIterator[tuple[Telling, Following]]:
    async with telling(agent) as teller, client_at(agent.host, limits=FAST._replace(quick=0.2)) as client:
        following = Following(client, ID, lambda: None, lambda: datetime.now(UTC))
        async with under_way(following.run()):
            yield teller, following


async def test_a_socket_counts_after_its_first_frame_and_what_it_tells_is_asked_for() -> None:
    agent = FakeAgent("1.34.0")
    async with followed(agent) as (teller, following):
        await until(lambda: teller.server.connections and following.origin is Origin.POLLING)
        teller.tell(kind="ConversationStateUpdateEvent", id="s", key="full_state", value={"execution_status": "stuck"})
        teller.tell(kind="StreamingDeltaEvent", id="d", source="agent", content="word ")
        await until(lambda: following.origin is Origin.LIVE)
        agent.says("word for word")
        teller.tell(**agent.log[-1])
        await until(lambda: [each.text for each in following.transcript.entries] == ["word for word"])
        assert following.transcript.status == "idle", "the log is the first to tell another one"
        teller.answers.clear()
        agent.sandbox = "ERROR"
        following.refresh()
        await until(lambda: following.origin is Origin.COPY)
        assert following.note == "Its sandbox is in error."
        teller.tell(kind="StreamingDeltaEvent", id="d", source="agent", content="one more ")
        await until(lambda: following.origin is Origin.LIVE and not following.note)


@pytest.mark.parametrize("version", ["1.8.2", "1.15.0", "", f"0.{'9' * 5_000}"], ids=["1.2", "1.6", "untold", "long"])
async def test_an_old_agent_server_is_never_listened_to(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """A socket that is opened while the agent is at a step would stop it from answering anybody."""
    monkeypatch.setattr(rules, "POLL", 0.01)
    monkeypatch.setattr(rules, "TOGETHER", 0.0)
    agent = FakeAgent(version)
    agent.set("running")
    async with followed(agent) as (teller, following):
        for number in range(5):
            agent.says(f"word {number}")
            await until(lambda: len(following.transcript.entries) == len(agent.log) - 1)
        assert (following.origin, teller.opened) == (Origin.POLLING, 0)


ANSWER = "/events/respond_to_confirmation"
Say = Callable[[Answering, frozenset[str]], Awaitable[str]]
ALL, SAYING = partial(Answering.accept, all_that_follow=True), partial(Answering.accept, saying="mind the gap")


async def talking(agent: Script) -> tuple[Following, Answering]:
    followed = following(agent)
    await followed.poll()
    return followed, Answering(followed)


def question(following: Following) -> frozenset[str]:
    return frozenset(entry.id for entry in following.transcript.question)


def sent(agent: FakeAgent, end: str) -> int:
    return agent.asked.count(f"POST {C}{end}")


async def test_a_message_to_an_agent_at_rest_is_stored_and_then_run(agent: FakeAgent) -> None:
    following, answering = await talking(agent)
    agent.busy = 20
    notes: list[str] = []
    agent.meanwhile["/run"] = lambda: agent.meanwhile.update({"/run": lambda: notes.append(answering.note)})
    assert await answering.send("hello") == "Sent."
    assert "still ending the last run" in notes[0]
    assert (answering.note, following.transcript.status) == ("", "finished")
    assert [entry.text for entry in following.transcript.entries if entry.text] == ["hello", "done"]
    assert not following.transcript.outgoing


async def test_what_an_agent_has_taken_is_said_also_where_nothing_can_be_read_afterwards(agent: FakeAgent) -> None:
    _, answering = await talking(agent)
    agent.meanwhile["/events"] = lambda: setattr(agent, "unreached", True)
    assert "Sent. Whether the agent goes on is not known" in await answering.send("hello")
    agent.unreached = False
    agent.meanwhile["/run"] = lambda: setattr(agent, "drops", True)
    assert "is not known: agent.test:8123 sent no" in await answering.send("hello")
    agent.drops, agent.meanwhile["/run"] = False, lambda: setattr(agent, "unreached", True)
    assert await answering.send("hello") == "Sent.", "its run was taken"
    for end, done in (("/pause", answering.stop()), ("/confirmation_policy", answering.set_policy(NEVER))):
        agent.unreached, agent.meanwhile[end] = False, lambda: setattr(agent, "unreached", True)
        assert await done


@pytest.mark.parametrize("moment", ["/events", ""])
async def test_a_message_sent_in_the_very_moment_in_which_a_question_comes_runs_nothing(moment: str) -> None:
    """The agent asks right before the message is stored, or right before its status is read."""
    agent = FakeAgent(policy="NeverConfirm")
    _, answering = await talking(agent)
    agent.meanwhile[moment] = lambda: agent.asks("rm -r build")
    assert "waits for an answer" in await answering.send("go on")
    assert (agent.ran, sent(agent, "/run")) == ([], 0)


@pytest.mark.parametrize("say", [Answering.accept, Answering.reject, ALL], ids=["yes", "no", "all"])
async def test_an_answer_to_some_of_what_it_asks_is_not_sent(agent: FakeAgent, say: Say) -> None:
    agent.asks("rm -r build")
    following, answering = await talking(agent)
    shown = question(following)
    agent.asks("rm -r src")
    with pytest.raises(ServiceError, match="It asks for more than that; no answer was sent"):
        await say(answering, shown)
    assert (agent.ran, sent(agent, ANSWER), agent.policy) == ([], 0, "ConfirmRisky")


async def test_it_is_said_where_it_may_not_ask_any_more_although_nothing_was_accepted(agent: FakeAgent) -> None:
    agent.asks("harmless")
    following, answering = await talking(agent)
    agent.drops = True
    with pytest.raises(ServiceError, match="may not ask any more") as raised:
        await answering.accept(question(following), all_that_follow=True)
    assert "f2" in raised.value.advice
    assert agent.ran == []


async def test_an_agent_that_never_takes_anything_in_is_said(agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.fleet.answering.ENDS_WITHIN", 0.05)
    agent.busy = agent.overhears = 1_000_000
    following, answering = await talking(agent)
    assert await answering.send("hello") == "Sent. The agent does not start."
    agent.asks("one")
    await following.poll()
    with pytest.raises(ServiceError, match="affirms the answer, and the agent still waits"):
        await answering.accept(question(following))
    assert agent.ran == []


async def test_an_answer_that_was_overheard_is_given_again(agent: FakeAgent) -> None:
    agent.asks("one")
    agent.overhears = 1
    following, answering = await talking(agent)
    shown = question(following)
    assert (await answering.accept(shown), agent.ran) == ("Accepted.", ["one"])
    with pytest.raises(ServiceError, match="did not wait"):
        await answering.accept(shown)
    assert sent(agent, ANSWER) == 2


def goes_on(agent: FakeAgent) -> None:
    agent.next = ["rm -r build"]
    agent.run()


def refuse_late(agent: FakeAgent) -> None:
    agent.run()
    agent.add("UserRejectObservation", tool_name="terminal", tool_call_id="call0")  # as real servers do


@pytest.mark.parametrize(
    ("before", "meanwhile", "say", "words", "ran", "sent"),
    [
        (ANSWER, goes_on, Answering.accept, "Somebody else answered", ["one", "rm -r build"], [ANSWER, "/interrupt"]),
        ("/confirmation_policy", goes_on, ALL, "something else", ["one"], ["/confirmation_policy"] * 2),
        (ANSWER, FakeAgent.reject, Answering.accept, "Somebody else rejected", [], [ANSWER]),
        (ANSWER, refuse_late, partial(Answering.reject, reason="use git"), "was not rejected", ["one"], [ANSWER]),
        *(("", goes_on, say, "something else", ["one"], []) for say in (Answering.accept, Answering.reject, ALL)),
        ("/events", FakeAgent.reject, SAYING, r"Your message was sent\. It did not wait", [], ["/events"]),
    ],
)
async def test_what_somebody_else_answers_at_once_is_said(
    before: str, meanwhile: Callable[[FakeAgent], None], say: Say, words: str, ran: list[str], sent: list[str]
) -> None:
    agent = FakeAgent("1.34.0")
    agent.asks("one")
    following, answering = await talking(agent)
    agent.meanwhile[before] = partial(meanwhile, agent)
    with pytest.raises(ServiceError, match=words) as raised:
        await say(answering, question(following))
    assert (agent.ran, agent.policy) == (ran, "ConfirmRisky")
    assert [each for each in agent.asked if each.startswith("POST")] == [f"POST {C}{end}" for end in sent]
    assert (raised.value.outcome is Outcome.APPLIED) is (say is SAYING)


async def test_an_answer_counts_without_a_response_and_a_lost_reason_is_said(agent: FakeAgent) -> None:
    agent.asks("one")
    following, answering = await talking(agent)
    agent.loses_answers = True
    assert await answering.accept(question(following)) == "Accepted."
    agent.asks("two")
    await following.poll()
    agent.meanwhile["/events"] = lambda: setattr(agent, "loses_answers", False)
    assert await answering.reject(question(following), "use git") == "Rejected, and your reason sent."
    agent.asks("three")
    await following.poll()
    agent.meanwhile["/events"] = lambda: setattr(agent, "drops", True)
    with pytest.raises(ServiceError, match="Rejected, but your reason was not sent"):
        await answering.reject(question(following), "never arrives")
    agent.asks("four")
    await following.poll()
    for lost in (answering.accept(question(following)), answering.stop()):
        with pytest.raises(ServiceError, match="Unknown whether it happened"):
            await lost
    assert (agent.ran, agent.status) == (["one"], "waiting_for_confirmation")


async def test_a_lost_answer_is_looked_for_until_the_log_can_be_read_again(agent: FakeAgent) -> None:
    following, answering = await talking(agent)
    agent.loses_answers = True
    agent.meanwhile["/events"] = lambda: setattr(agent, "unreached", True)
    agent.meanwhile["/run"] = lambda: setattr(agent, "loses_answers", False)
    sending = asyncio.create_task(answering.send("hello"))
    await until(lambda: agent.asked.count(f"GET {C}") >= 20)
    assert [(each.text, each.title) for each in following.transcript.entries] == [("hello", NOT_KNOWN)]
    agent.unreached = False
    assert (await sending, sent(agent, "/events"), sent(agent, "/run")) == ("Sent.", 1, 1)
    assert not following.transcript.outgoing


async def test_a_message_that_a_tool_holds_is_looked_for_until_the_tool_has_ended(agent: FakeAgent) -> None:
    agent.says("hello", "user")
    agent.set("running")
    following, answering = await talking(agent)
    agent.drops, sending = True, asyncio.create_task(answering.send("hello"))
    await until(lambda: following.transcript.entries[-1][3:6] == ("you", NOT_KNOWN, "hello"))
    agent.add("PauseEvent")
    agent.copy, agent.sandbox, agent.unreached = agent.log, "ERROR", True
    await following.poll()
    assert following.transcript.outgoing, "it is not the one that was sent before"
    agent.sandbox, agent.unreached = "RUNNING", False
    await following.poll()
    agent.says("hello", "user")
    agent.set("finished")
    agent.drops = False
    assert "Sent." in await sending
    assert sent(agent, "/events") == 1


async def test_what_was_sent_before_a_stop_does_not_start_the_agent_again(agent: FakeAgent) -> None:
    agent.busy, stops = 3, list[asyncio.Task[str]]()
    following, answering = await talking(agent)
    agent.meanwhile["/run"] = lambda: stops.append(asyncio.create_task(answering.stop()))
    assert "You have stopped it since" in await answering.send("hello")
    await stops[0]
    assert "done" not in [entry.text for entry in following.transcript.entries]


async def test_an_old_agent_stops_only_after_its_step_and_never_goes_on_with_what_waits(agent: FakeAgent) -> None:
    agent.set("running")
    _, answering = await talking(agent)
    assert await answering.send("read this after your step") == "Sent."
    assert "only after a step" in await answering.stop()
    agent.asks("rm -r build")
    waits, pending = ("waiting_for_confirmation", "waits for an answer"), ("paused", "nobody accepted")
    for status, words in (waits, pending, ("finished", "It had finished")):
        agent.set(status)
        with pytest.raises(ServiceError, match=words):
            await answering.go_on()
    assert agent.ran == []
