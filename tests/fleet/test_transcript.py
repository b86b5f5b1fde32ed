from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarterdeck.client.models.event import AgentState, DeltaEvent, Event, EventPage, read_event
from quarterdeck.fleet.entries import Entries, Entry, EntryKind, Outcome
from quarterdeck.fleet.transcript import STREAMED, Transcript
from tests.fleet.agent import recorded

WITH = "03-confirmation 04-confirmation-always 05-messages-pause-interrupt 10-tools 11-agent-server-of-1.2.1"
LOGS = [f"{name}-ws" for name in WITH.split()]
BY_NAME = {name: [event for frame in recorded(name) if (event := read_event(frame)) is not None] for name in LOGS}


def page(log: list[Event], page_id: str | None, *, newest_first: bool, limit: int) -> EventPage:
    """A page as an agent server gives it: of an unknown id the first one."""
    listed = log[::-1] if newest_first else log
    start = next((at for at, event in enumerate(listed) if event.id == page_id), 0)
    told, rest = tuple(listed[start : start + limit]), listed[start + limit :]
    return EventPage.model_construct(events=told, next_page_id=rest[0].id if rest else None)


def folded(log: list[Event]) -> list[Entry]:
    return Entries(log).listed


def test_what_is_not_known_keeps_its_kind_and_body_and_what_is_broken_breaks_nothing() -> None:
    for members in (
        {"kind": "ActionEvent", "tool_name": 5, "action": "none", "thought": {"text": 1}, "tool_call": 7},
        {"kind": "MessageEvent", "llm_message": "no message"},
        {"kind": "ObservationEvent", "observation": None, "timestamp": "never"},
    ):
        assert len(folded([_event(**members)])) == 1
    nudge = said("user", "Your last response did not include a function call or a message. Please use a tool.")
    assert folded([nudge])[0].kind is EntryKind.QUIET, "no person wrote it"
    assert "BrandNewEvent (hook)" in folded([_event(kind="BrandNewEvent", source="hook")])[0].title
    assert read_event({"kind": "MessageEvent"}) is read_event([]) is None


def _event(**members: object) -> Event:
    event = read_event({"id": "x", **members})
    assert isinstance(event, Event)
    return event


def test_a_command_runs_on_until_its_terminal_tells_an_exit_code() -> None:
    told = [_event(id=str(code), kind="ObservationEvent", observation={"exit_code": code}) for code in (-1, 0)]
    assert [folded(told[:1])[0].outcome, folded(told)[0].outcome] == [Outcome.RUNS_ON, None]


def test_an_id_of_a_call_that_comes_again_is_another_action() -> None:
    told = ("a", "ActionEvent"), ("b", "ObservationEvent"), ("c", "ActionEvent")
    entries = Entries(_event(id=each, kind=kind, tool_call_id="toolu_00") for each, kind in told)
    assert [(each.id, each.outcome) for each in entries.listed] == [("a", "done"), ("c", "open")]


@given(data=st.data(), name=st.sampled_from(LOGS), limit=st.integers(1, 20))
@settings(max_examples=150, deadline=None)
def test_whatever_was_lost_or_doubled_it_ends_as_the_servers_log(data: st.DataObject, name: str, limit: int) -> None:
    log = BY_NAME[name]
    transcript, at = Transcript(), data.draw(st.integers(0, len(log)))
    transcript.begin(page(log[:at], None, newest_first=True, limit=limit))
    for _ in range(data.draw(st.integers(0, 25))):
        match data.draw(st.sampled_from(["goes on", "frame", "catch up", "part", "older", "anew", "delta"])):
            case "goes on":
                at = min(at + data.draw(st.integers(1, 5)), len(log))
            case "frame" if at:
                transcript.hear(log[data.draw(st.integers(max(0, at - 6), at - 1))])
            case "catch up" | "part" as how:
                catch_up(transcript, log[:at], limit, whole=how == "catch up")
            case "older" if transcript.older is not None:
                transcript.prepend(page(log[:at], transcript.older, newest_first=True, limit=limit))
            case "anew":
                transcript.begin(page(log[:at], None, newest_first=True, limit=limit))
            case "delta":
                transcript.hear(delta("half a word"))
    catch_up(transcript, log, limit, whole=True)
    while transcript.older is not None:
        transcript.prepend(page(log, transcript.older, newest_first=True, limit=limit))
    assert [entry for entry in transcript.entries if entry.id != STREAMED] == folded(log)


def catch_up(transcript: Transcript, log: list[Event], limit: int, *, whole: bool) -> None:
    """As `Following` does it: by the id of the last event that the list has told."""
    if not (more := transcript.last_id is not None):
        transcript.begin(page(log, None, newest_first=True, limit=limit))
    while more:
        read = page(log, transcript.last_id, newest_first=False, limit=limit + 1)
        more = whole and read.next_page_id is not None
        transcript.catch_up(read.events[1:])


@pytest.mark.parametrize("name", LOGS)
def test_what_a_copy_tells_of_one_moment_keeps_its_order(name: str) -> None:
    log = [event.model_copy(update={"timestamp": datetime(2026, 3, 1, tzinfo=UTC)}) for event in BY_NAME[name]]
    transcript, middle = Transcript(), len(log) // 2
    for part, older in ((log[middle:-1], False), (log[:middle], True), (log[-3:], False)):
        transcript.copied(page(part, None, newest_first=True, limit=len(part)), older=older)
    assert transcript.entries == folded(log)


def said(who: str, text: str) -> Event:
    return _event(id=text, kind="MessageEvent", source=who, llm_message={"content": [{"text": text}]})


def delta(words: str) -> Event:
    return DeltaEvent(id="d", kind="StreamingDeltaEvent", content=words)


def told(transcript: Transcript, *frames: Event) -> list[str]:
    for frame in frames:
        transcript.hear(frame)
    return [each.text for each in transcript.entries]


def test_words_that_are_being_written_stand_at_the_end_until_the_list_has_the_whole() -> None:
    transcript, whole = Transcript(), said("agent", "Once more.")
    assert told(transcript, *(delta(text) for text in ("", "Now ", "I ", "look"))) == ["Now I look"]
    assert told(transcript, delta(""), delta("Once more")) == ["Once more"], "another try begins anew"
    assert told(transcript, whole) == ["Once more"]
    transcript.catch_up([whole])
    assert told(transcript) == ["Once more."]
    assert told(transcript, delta("half"), _event(kind="InterruptEvent", source="user", id="i"))[-1] == "half"
    assert told(transcript, delta("next"))[-1] == "next"
    transcript.catch_up([_event(kind="InterruptEvent", source="user", id="i")])
    assert told(transcript)[-1] == "next", "the list tells of the one before"
    transcript.catch_up([said("agent", "next and last")])
    assert told(transcript)[-1] == "next and last", "also where no socket told"
    assert told(transcript, delta("next "), said("agent", "next and last"))[-1] == "next and last", "or told it later"


def test_words_mean_work_until_a_status_is_told_after_them_and_never_after_a_pause() -> None:
    transcript = Transcript()
    for status, works in (("", True), ("idle", True), ("paused", False)):
        transcript.state(AgentState(execution_status=status))
        assert not transcript.running
        transcript.hear(delta("half"))
        assert transcript.running is works


def test_a_message_that_came_while_the_last_answer_was_written_is_noticed() -> None:
    done = _event(id="f", kind="ConversationStateUpdateEvent", key="execution_status", value="finished")
    ran = _event(id="a", kind="ActionEvent", source="agent", tool_name="terminal", action={"command": "ls"})
    log = [said("user", "wait"), said("agent", "all done"), done]
    ran_again = _event(id="r", kind="ConversationStateUpdateEvent", key="execution_status", value="running")
    overheard, seen, later, answered = Transcript(), Transcript(), Transcript(), Transcript()
    for each, frames in ((overheard, [delta("all "), *log]), (seen, log), (answered, [delta("all "), log[0]])):
        told(each, *frames)
    answered.catch_up([log[1], log[0], ran_again, said("agent", "here I am"), done])
    later.overheard = overheard.overheard
    for transcript in (overheard, seen, later):
        transcript.catch_up(log)
    assert (seen.unanswered, answered.unanswered) == (None, None)
    for transcript in (overheard, later):
        assert getattr(transcript.unanswered, "text", "") == "wait"
        transcript.catch_up([ran, said("agent", "so it is")])
        assert transcript.unanswered is None, "it has worked since, and read it"
