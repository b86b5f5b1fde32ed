"""One sandbox through its readings, and what is asked of it meanwhile; seconds are counted from noon."""

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.sandbox import ExposedUrl, Sandbox
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import SandboxState, StateWord, why_not

from .fakes import NOON, Story, at, sandbox

SETTLED = [
    # a first reading
    ("STARTING", "Starting"),
    ("RUNNING", "Running"),
    ("PAUSED", "Paused"),
    ("ERROR", "Error"),
    ("MISSING", "Missing"),
    ("HIBERNATING", "HIBERNATING"),
    # what has run and reads as starting is idle, until it stopped
    ("RUNNING STARTING STARTING RUNNING STARTING", "Running"),
    ("RUNNING HIBERNATING STARTING", "Running"),
    # an error while it boots is believed at the third reading, once it has had time to boot
    ("new ERROR ERROR +30 ERROR", "Error"),
    ("RUNNING ERROR", "Error"),
    # the answer to a start counts as a reading, and undoes none when it comes late
    ("running new STARTING", "Running"),
    ("new RUNNING starting", "Running"),
    # one found starting may have been so for long
    ("STARTING +3600", "Starting"),
    ("new STARTING RUNNING +600", "Running"),
    # a pause or resume that is over
    ("RUNNING pause PAUSED", "Paused"),
    ("RUNNING pause ERROR ERROR", "Error"),
    ("RUNNING pause MISSING", "Missing"),
    ("RUNNING pause refused", "Running"),
    ("RUNNING delete MISSING", "Missing"),
    ("RUNNING delete refused", "Running"),
    ("PAUSED resume RUNNING", "Running"),
    ("PAUSED resume MISSING", "Missing"),
    # one that comes up where it was, and answers there
    ("RUNNING PAUSED resume STARTING alive", "Running"),
    ("RUNNING PAUSED resume STARTING alive STARTING", "Running"),
    # nobody answers at its address: until a reading or an answer
    ("RUNNING STARTING STARTING STARTING silent STARTING", "Running, no answer"),
    ("RUNNING STARTING STARTING STARTING silent STARTING RUNNING STARTING", "Running"),
    ("RUNNING STARTING STARTING STARTING alive", "Running"),
    ("RUNNING STARTING STARTING STARTING PAUSED silent", "Paused"),
    # the way back is believed at the second reading, or long after; another state at once
    ("RUNNING PAUSED RUNNING", "Paused"),
    ("RUNNING PAUSED RUNNING RUNNING", "Running"),
    ("RUNNING PAUSED resume RUNNING PAUSED", "Paused"),
    ("RUNNING PAUSED +35 RUNNING", "Running"),
    ("RUNNING PAUSED ERROR", "Error"),
    # one that was not found, and is listed all the same
    ("RUNNING not-found", "Missing"),
    ("RUNNING not-found RUNNING", "Running"),
    ("RUNNING STARTING not-found STARTING", "Running"),
]
UNDER_WAY = [
    ("RUNNING ERROR STARTING", "Starting"),
    ("RUNNING MISSING STARTING", "Starting"),
    ("new ERROR", "Starting"),
    ("new ERROR ERROR ERROR ERROR", "Starting"),
    ("new ERROR +30 ERROR", "Starting"),
    ("new ERROR STARTING ERROR", "Starting"),
    ("new STARTING +119", "Starting"),
    ("starting new STARTING", "Starting"),
    ("PAUSED STARTING", "Starting"),
    ("RUNNING pause RUNNING STARTING", "Pausing"),
    ("RUNNING pause ERROR", "Pausing"),
    ("RUNNING pause +59", "Pausing"),
    ("RUNNING pause +61", "still Running"),
    ("PAUSED resume PAUSED", "Resuming"),
    ("PAUSED resume +119", "Resuming"),
    ("PAUSED resume PAUSED ERROR", "Resuming"),
    ("PAUSED resume STARTING", "Starting"),
    ("RUNNING PAUSED resume STARTING silent", "Starting"),
    ("RUNNING delete", "Running, deleting"),
    ("RUNNING delete PAUSED", "Paused, deleting"),
    ("RUNNING delete ERROR", "Error, deleting"),
]
TOO_LATE = [
    ("new STARTING +130", "Starting slow 2:10"),
    ("PAUSED resume +99 STARTING +30", "Starting slow 2:10"),
    ("RUNNING pause +121", "still Running"),
    ("PAUSED delete +121", "still Paused"),
    ("PAUSED resume +121", "still Paused"),
    ("new STARTING accepted +500", "Starting"),
]


@pytest.mark.parametrize(("told", "words"), [*SETTLED, *UNDER_WAY, *TOO_LATE])
def test_what_is_said_of_a_sandbox_after_its_readings(told: str, words: str) -> None:
    story = Story(told)
    assert (story.state.words, story.state.slow) == (words, "slow" in words)
    assert bool(story.memories.transitional(at(story.second))) is ((told, words) in UNDER_WAY)


@pytest.mark.parametrize("pair", ["Running Paused", "Paused Running", "Running Error", "Paused Missing"])
def test_a_status_that_flips_at_every_reading_is_shown_once_and_does_not_flash(pair: str) -> None:
    story, told = Story(), pair.upper().split()
    words = [story.tell(f"{told[number % 2]} +1").state.words for number in range(60)]
    assert words == [*pair.split(), *pair.split()[1:] * 58]


def test_how_long_a_state_lasts_and_whether_its_beginning_was_seen() -> None:
    seen = ["RUNNING +8 PAUSED +20", "RUNNING PAUSED STARTING +10", "new STARTING", "new STARTING RUNNING +120"]
    seen += ["new STARTING +10 starting"]
    unseen = ["RUNNING +29 STARTING +29 RUNNING", "STARTING +9", "STARTING", "RUNNING +8", "STARTING RUNNING +120"]
    lasted = [story.state.lasted(at(story.second)) for story in map(Story, seen + unseen)]
    assert lasted == ["<1m", "10s", "now", "2m", "10s", "≥1m", "≥9s", "?", "?", "≥2m"]


# Asking the agent server itself


def test_a_check_is_wanted_after_three_quiet_readings_of_one_that_ran_and_has_an_address() -> None:
    wanted = ["RUNNING STARTING STARTING STARTING", "RUNNING PAUSED resume STARTING"]
    too_soon = ["RUNNING STARTING STARTING", "STARTING STARTING STARTING STARTING"]
    assert [told for told in wanted + too_soon if Story(told).wants_check] == wanted
    bare = SandboxMemories()
    for second, status in enumerate(["RUNNING", *["STARTING"] * 4]):
        bare.observe([sandbox(status)], at(second), beginning=False)
    assert bare.take_checks(["abc"], at(9.0)) == {}


def test_a_few_are_asked_at_a_time_each_once_a_minute_and_more_often_while_it_comes_up() -> None:
    memories, ids = SandboxMemories(), list("abcdefg")
    memories.observe([sandbox("RUNNING", each, served=True) for each in ids], at(0), beginning=False)
    for second in range(1, 4):
        memories.observe([sandbox("STARTING", each) for each in ids], at(second), beginning=False)
    asked = ["".join(memories.take_checks(ids, at(second))) for second in (4, 5, 6, 64)]
    assert asked == ["abcde", "fg", "", "abcde"]
    assert memories.checked("b", at(6), answered=False)
    assert not memories.checked("b", at(7), answered=False), "it is no news any more"
    memories.observe([sandbox("STARTING", "new", served=True)], at(100), beginning=True)
    often = [second for second in range(100, 400) if memories.take_checks(["new"], at(second))]
    assert (often[:3], often[-1] - often[-2]) == ([100, 105, 110], 60)


# How it is reached

HERE, THERE = "http://here", "http://there"


@pytest.mark.parametrize(
    ("readings", "key", "urls"),
    [
        # what a reading does not tell stays as it was
        ([("RUNNING", "", "")], "one", [HERE]),
        ([("RUNNING", "other", "")], "other", [HERE]),
        ([("STARTING", "", THERE), ("RUNNING", "", "")], "one", [THERE]),
        # a key is known of what has run, an address of what may come back
        ([("PAUSED", "one", HERE), ("RUNNING", "", "")], None, [HERE]),
        ([("ERROR", "one", HERE)], None, []),
        ([("MISSING", "one", HERE)], None, []),
        ([("HIBERNATING", "one", HERE)], "one", []),
    ],
)
def test_what_a_reading_does_not_tell_stays_as_it_was(
    readings: list[tuple[str, str, str]], key: str | None, urls: list[str]
) -> None:
    memories = SandboxMemories()
    for second, (status, told, url) in enumerate([("RUNNING", "one", HERE), *readings]):
        exposed = (ExposedUrl(name="AGENT_SERVER", url=SecretStr(url), port=8000),) if url else ()
        secret = SecretStr(told) if told else None
        read = Sandbox(id="abc", status=status, session_api_key=secret, exposed_urls=exposed)
        memories.observe([read], at(100.0 * second), beginning=False)
    memory = memories.by_id["abc"]
    assert HERE not in f"{memory} {memory!r}", "addresses may hold a key"
    assert (memory.key and memory.key.get_secret_value()) == key
    assert [each.url.get_secret_value() for each in memory.urls] == urls


# What may be asked of it

STATES = {word: SandboxState(word, NOON, exact=True) for word in [*StateWord, "HIBERNATING"]}


@pytest.mark.parametrize(
    ("command", "allowed", "refused", "why"),
    [
        ("pause", {"Running", "Starting"}, "Paused", "paused already"),
        ("resume", {"Paused"}, "Error", "failed"),
        ("open_url", {"Running"}, "Paused", "only while it runs"),
        ("pause", {"Running", "Starting"}, "HIBERNATING", "HIBERNATING"),
    ],
)
def test_what_is_allowed_in_which_state(command: str, allowed: set[str], refused: str, why: str) -> None:
    reasons = {word: why_not(command, state) for word, state in STATES.items()}
    assert {word for word, reason in reasons.items() if reason is None} == allowed
    assert why in str(reasons[refused])
