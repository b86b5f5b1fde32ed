"""One sandbox through its readings, and what is asked of it meanwhile; seconds are counted from noon."""

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.sandbox import ExposedUrl, Sandbox
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import SandboxState, StateWord, why_not

from .fakes import NOON, Story, at, sandbox

SETTLED = [
    # a first reading
    ("Error", ["ERROR"]),
    ("Missing", ["MISSING"]),
    ("HIBERNATING", ["HIBERNATING"]),
    # what has run and reads as starting is idle, until it stopped
    ("Running", ["RUNNING STARTING STARTING RUNNING STARTING", "RUNNING HIBERNATING STARTING"]),
    # an error while it boots is believed at the third reading, once it has had time to boot
    ("Error", ["new ERROR ERROR +30 ERROR"]),
    # the answer to a start counts as a reading, and undoes none when it comes late
    ("Running", ["running new STARTING", "new RUNNING starting"]),
    # one found starting may have been so for long
    ("Starting", ["STARTING +3600"]),
    ("Running", ["new STARTING RUNNING +600"]),
    # a pause or resume that is over
    ("Paused", ["RUNNING pause PAUSED"]),
    ("Error", ["RUNNING pause ERROR ERROR"]),
    ("Missing", ["RUNNING pause MISSING", "RUNNING delete MISSING"]),
    ("Running", ["RUNNING pause refused", "PAUSED resume RUNNING"]),
    # one that comes up where it was, and answers there
    ("Running", ["RUNNING PAUSED resume STARTING alive STARTING"]),
    # nobody answers at its address: until a reading or an answer
    ("Running, no answer", ["RUNNING STARTING STARTING STARTING silent STARTING"]),
    ("Running", ["RUNNING STARTING STARTING STARTING silent STARTING RUNNING STARTING"]),
    ("Running", ["RUNNING STARTING STARTING STARTING alive"]),
    ("Paused", ["RUNNING STARTING STARTING STARTING PAUSED silent"]),
    # the way back is believed at the second reading, or long after; another state at once
    ("Paused", ["RUNNING PAUSED RUNNING", "RUNNING PAUSED resume RUNNING PAUSED"]),
    ("Running", ["RUNNING PAUSED RUNNING RUNNING", "RUNNING PAUSED +35 RUNNING"]),
    ("Error", ["RUNNING PAUSED ERROR"]),
    # one that was not found, and is listed all the same
    ("Missing", ["RUNNING not-found"]),
    ("Running", ["RUNNING not-found RUNNING", "RUNNING STARTING not-found STARTING"]),
]
UNDER_WAY = [
    ("Starting", ["RUNNING ERROR STARTING", "RUNNING MISSING STARTING", "PAUSED STARTING", "new STARTING +119"]),
    ("Starting", ["new ERROR ERROR ERROR ERROR", "new ERROR +30 ERROR", "new ERROR STARTING ERROR"]),
    ("Starting", ["starting new STARTING", "PAUSED resume STARTING", "RUNNING PAUSED resume STARTING silent"]),
    ("Pausing", ["RUNNING pause RUNNING STARTING", "RUNNING pause ERROR", "RUNNING pause +59"]),
    ("still Running", ["RUNNING pause +61"]),
    ("Resuming", ["PAUSED resume +119", "PAUSED resume PAUSED ERROR"]),
    ("Running, deleting", ["RUNNING delete"]),
    ("Paused, deleting", ["RUNNING delete PAUSED"]),
]
TOO_LATE = [
    ("Starting slow 2:10", ["new STARTING +130", "PAUSED resume +99 STARTING +30"]),
    ("still Running", ["RUNNING pause +121"]),
    ("still Paused", ["PAUSED delete +121", "PAUSED resume +121"]),
    ("Starting", ["new STARTING accepted +500"]),
]


@pytest.mark.parametrize(("words", "several"), [*SETTLED, *UNDER_WAY, *TOO_LATE])
def test_what_is_said_of_a_sandbox_after_its_readings(words: str, several: list[str]) -> None:
    for told in several:
        story = Story(told)
        assert (story.state.words, story.state.slow) == (words, "slow" in words), told
        assert bool(story.memories.transitional(at(story.second))) is ((words, several) in UNDER_WAY), told


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


def test_a_check_is_wanted_after_three_quiet_readings_of_one_that_ran_and_has_an_address() -> None:
    wanted = ["RUNNING STARTING STARTING STARTING", "RUNNING PAUSED resume STARTING"]
    too_soon = ["RUNNING STARTING STARTING", "STARTING STARTING STARTING STARTING"]
    stories = {told: Story(told) for told in wanted + too_soon}
    assert [told for told, story in stories.items() if story.memory.wants_check(at(story.second))] == wanted
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
def test_what_a_reading_omits_stays(readings: list[tuple[str, str, str]], key: str | None, urls: list[str]) -> None:
    memories = SandboxMemories()
    for second, (status, told, url) in enumerate([("RUNNING", "one", HERE), *readings]):
        exposed = (ExposedUrl(name="AGENT_SERVER", url=SecretStr(url), port=8000),) if url else ()
        secret = SecretStr(told) if told else None
        read = Sandbox(id="abc", status=status, session_api_key=secret, exposed_urls=exposed)
        memories.observe([read], at(100.0 * second), beginning=False)
    memory = memories.by_id["abc"]
    assert HERE not in f"{memory!r}", "addresses may hold a key"
    assert (memory.key and memory.key.get_secret_value()) == key
    assert [each.url.get_secret_value() for each in memory.urls] == urls


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
