"""One sandbox through its readings, and what is asked of it meanwhile; seconds are counted from noon."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.sandbox import ExposedUrl, Sandbox
from quarterdeck.fleet.displacement import Displacement, KeptCap
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action, SandboxState, StateWord, why_not
from quarterdeck.fleet.sandboxes import sandbox_row
from quarterdeck.fleet.timeline import IDS, Cause, KeptTimelines

from .fakes import NOON, Story, at, sandbox

SETTLED = [
    ("Error", ["ERROR"]),  # a first reading
    ("Missing", ["MISSING"]),
    ("HIBERNATING", ["HIBERNATING"]),
    # what has run and reads as starting is idle, until it stopped
    ("Running", ["RUNNING STARTING STARTING RUNNING STARTING", "RUNNING HIBERNATING STARTING"]),
    # an error while it boots is believed at the third reading, once it has had time to boot
    ("Error", ["new ERROR ERROR +30 ERROR"]),
    # the answer to a start counts as a reading, and undoes none when it comes late
    ("Running", ["running new STARTING", "new RUNNING starting"]),
    ("Starting", ["STARTING +3600"]),  # one found starting may have been so for long
    ("Running", ["new STARTING RUNNING +600"]),
    ("Paused", ["RUNNING pause PAUSED"]),  # a pause or resume that is over
    ("Error", ["RUNNING pause ERROR ERROR"]),
    ("Missing", ["RUNNING pause MISSING", "RUNNING delete MISSING"]),
    ("Running", ["RUNNING pause refused", "PAUSED resume RUNNING"]),
    ("Running", ["RUNNING PAUSED resume STARTING alive STARTING"]),  # one that comes up where it was, and answers there
    # nobody answers at its address: until a reading or an answer
    ("Running, no answer", ["RUNNING STARTING STARTING STARTING silent STARTING"]),
    ("Running", ["RUNNING STARTING STARTING STARTING silent STARTING RUNNING STARTING"]),
    ("Running", ["RUNNING STARTING STARTING STARTING alive"]),
    ("Paused", ["RUNNING STARTING STARTING STARTING PAUSED silent"]),
    # the way back is believed at the second reading, or long after; another state at once
    ("Paused", ["RUNNING PAUSED RUNNING", "RUNNING PAUSED resume RUNNING PAUSED"]),
    ("Running", ["RUNNING PAUSED RUNNING RUNNING", "RUNNING PAUSED +35 RUNNING"]),
    ("Error", ["RUNNING PAUSED ERROR"]),
    ("Missing", ["RUNNING not-found"]),  # one that was not found, and is listed all the same
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
    seen += ["new STARTING +10 starting", "RUNNING +99 pause +1 PAUSED +60"]
    late = ["RUNNING +11 PAUSED +60"]
    unseen = ["RUNNING +29 STARTING +29 RUNNING", "STARTING +9", "STARTING", "RUNNING +8", "STARTING RUNNING +120"]
    lasted = [story.state.lasted(at(story.second)) for story in map(Story, seen + late + unseen)]
    assert lasted == ["<1m", "10s", "now", "2m", "10s", "1m", "≥1m", "≥1m", "≥9s", "?", "?", "≥2m"]


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
    assert ["".join(memories.take_checks(ids, at(second))) for second in (4, 5, 6, 64)] == ["abcde", "fg", "", "abcde"]
    assert memories.checked("b", at(6), answered=False)
    assert not memories.checked("b", at(7), answered=False), "it is no news any more"
    memories.observe([sandbox("STARTING", "new", served=True)], at(100), beginning=True)
    often = [second for second in range(100, 400) if memories.take_checks(["new"], at(second))]
    assert (often[:3], often[-1] - often[-2]) == ([100, 105, 110], 60)


HERE, THERE = "http://here", "http://there"


@pytest.mark.parametrize(
    ("readings", "key", "urls"),
    [
        ([("RUNNING", "", "")], "one", [HERE]),
        ([("RUNNING", "other", "")], "other", [HERE]),
        ([("STARTING", "", THERE), ("RUNNING", "", "")], "one", [THERE]),
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
        read = Sandbox(id="abc", status=status, session_api_key=SecretStr(told) if told else None, exposed_urls=exposed)
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


DAY = 86_400


def displacing(memories: SandboxMemories, ids: Iterable[str], titles: Mapping[str, str]) -> Displacement:
    """What starts displace where these are listed, the oldest first."""
    records = {each: replace(sandbox("RUNNING", each), created_at=at(age)) for age, each in enumerate(ids)}
    return Displacement(lambda: records, memories, titles.get)


NOTHING = KeptTimelines()


class Watched:
    def __init__(self, kept: KeptTimelines = NOTHING) -> None:
        self.awaited = False
        self.memories = SandboxMemories(lambda: self.awaited)
        self.timelines = self.memories.timelines
        self.timelines.recall(kept)

    def read(self, second: float, *statuses: str, beginning: bool = False) -> None:
        """Read sandboxes a, b, c ... in these statuses; "-" stands for one that is not read."""
        records = [sandbox(status, name) for name, status in zip("abcdef", statuses, strict=False) if status != "-"]
        self.memories.observe(records, at(second), beginning=beginning)

    def told(self, name: str = "a") -> list[tuple[str, Cause]]:
        return [(event.what, event.cause) for event in self.timelines.of(name)]

    def kept(self, beside: KeptTimelines = NOTHING) -> KeptTimelines:
        """What the next run finds, `beside` what was kept already."""
        return KeptTimelines.model_validate_json(self.timelines.kept().joined(beside).model_dump_json())


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        # what was asked for here was you, the rest the server
        ("RUNNING +10 pause accepted PAUSED +47 RUNNING", "Running unknown, Paused you, Running server"),
        ("PAUSED resume accepted STARTING +7 RUNNING", "Paused unknown, Starting you, Running you"),
        ("RUNNING PAUSED resume accepted STARTING alive", "Running unknown, Paused server, Starting you, Running you"),
        # a resume that fails did not fail by your will
        ("PAUSED resume accepted STARTING MISSING", "Paused unknown, Starting you, Missing server"),
        # a start that was answered was you, also where it was listed or had failed before; one that appeared was not
        ("running new RUNNING", "Running you"),
        ("new STARTING starting RUNNING", "Starting you, Running you"),
        ("new STARTING ERROR +33 ERROR error +4 RUNNING", "Starting you, Error server, Running you"),
        ("new STARTING", "Starting server"),
        # a refused pause explains nothing, nor does one of long ago
        ("RUNNING pause refused +8 PAUSED", "Running unknown, Paused server"),
        ("RUNNING pause accepted" + " +98 RUNNING" * 3 + " +62 PAUSED", "Running unknown, Paused server"),
        # flaps are no events; what the server does not find is missing from then on
        ("RUNNING RUNNING STARTING STARTING RUNNING STARTING", "Running unknown"),
        ("RUNNING pause accepted not-found", "Running unknown, Missing server"),
        # what a server stops before it deletes it, and lists as missing then, was you
        ("RUNNING delete accepted PAUSED MISSING", "Running unknown, Paused server, Missing you"),
    ],
)
def test_what_was_asked_for_here_was_you_and_the_rest_the_server(story: str, expected: str) -> None:
    assert ", ".join(f"{event.what} {event.cause}" for event in Story(story).memories.timelines.of("abc")) == expected


def test_what_appears_while_a_start_of_ours_is_not_answered_may_be_it_and_never_reads_that_nobody_asked() -> None:
    watched = Watched()
    watched.read(0, "-", "RUNNING")
    watched.awaited = True
    watched.read(2, "STARTING", "RUNNING", "STARTING", beginning=True)
    watched.read(4, "RUNNING", "RUNNING", "RUNNING")
    assert watched.told("a") == watched.told("c") == [("Starting", Cause.UNKNOWN), ("Running", Cause.UNKNOWN)]
    assert not any("nobody" in event.words for event in watched.timelines.of("a"))
    assert watched.timelines.perhaps_ours("a")
    watched.awaited = False
    watched.memories.started(sandbox("RUNNING", "a"), at(5))
    assert watched.told("a") == [("Starting", Cause.YOU), ("Running", Cause.YOU)]
    assert watched.timelines.of("a")[0].lasted == 2.0
    assert not watched.timelines.perhaps_ours("c")
    watched.read(9, "RUNNING", "RUNNING", "RUNNING", "STARTING", beginning=True)
    assert watched.told("d") == [("Starting", Cause.SERVER)]


def test_a_pause_that_made_room_for_a_start_of_ours_is_told_apart() -> None:
    """The oldest were paused for it, up to the first that still runs, but for what was asked for or failed."""
    watched = Watched()
    displacement = displacing(watched.memories, "abcdef", {"a": "Fix login"})
    watched.read(0, *["RUNNING"] * 6)
    watched.memories.asked("b", Action.PAUSE, at(3))
    with displacement.asking() as another, displacement.asking() as new:
        another.answered("another", at(4))
        new.answered("new", at(4))
    watched.read(5, "PAUSED", "PAUSED", "ERROR", "PAUSED", "RUNNING", "PAUSED")
    (news,) = displacement.read(at(5))
    assert (set(news.ids), news.words) == ({"a", "d"}, "Paused, probably to make room for new: a (Fix login), d.")
    assert [watched.told(name)[-1] for name in "ab"] == [("Paused", Cause.DISPLACED), ("Paused", Cause.YOU)]
    assert "probably to make room for new" in watched.timelines.of("a")[-1].words


def test_what_stops_while_a_start_is_out_made_room_for_that_one_and_not_for_the_one_before() -> None:
    watched = Watched()
    displacement = displacing(watched.memories, "abc", {})
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    with displacement.asking() as first:
        first.answered("first", at(1))
    with displacement.asking() as second:
        watched.read(5, "PAUSED", "RUNNING", "RUNNING")
        assert not list(displacement.read(at(5)))
        second.answered("second", at(9))
    (news,) = displacement.read(at(10))
    assert news.words == "Paused, probably to make room for second: a."
    assert not list(displacement.read(at(60)))
    assert displacement.kept() == KeptCap(cap=3)


def test_a_change_found_after_a_gap_has_no_known_cause_and_no_known_moment() -> None:
    watched = Watched()
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    watched.memories.observe((), at(3600), beginning=False)
    watched.read(3600, "PAUSED")
    watched.read(3640, "-", "PAUSED")
    assert watched.told("a")[-1] == watched.told("b")[-1] == ("Paused", Cause.UNKNOWN)
    assert "nobody watched" in watched.timelines.of("a")[-1].words
    assert watched.timelines.of("a")[0].lasted is None
    watched.read(3700, "-", "-", "PAUSED")
    assert watched.told("c")[-1] == ("Paused", Cause.SERVER)


def test_the_next_run_knows_what_happened_before_and_says_what_changed_meanwhile() -> None:
    watched = Watched()
    watched.read(0, "RUNNING", "PAUSED")
    watched.memories.asked("a", Action.PAUSE, at(1))
    watched.read(2, "PAUSED", "PAUSED")
    again = Watched(watched.kept())
    again.read(DAY, "RUNNING", "PAUSED")
    assert again.told("a") == [("Running", Cause.UNKNOWN), ("Paused", Cause.YOU), ("Running", Cause.UNKNOWN)]
    assert again.timelines.of("a")[1].lasted is None
    assert (again.timelines.of("a")[0], again.told("b")) == (watched.timelines.of("a")[0], [("Paused", Cause.UNKNOWN)])


def test_the_next_run_knows_what_has_run_although_it_reads_as_starting_and_since_when() -> None:
    watched = Watched()
    watched.read(0, "PAUSED", "STARTING", "RUNNING")
    watched.read(60, "RUNNING", "STARTING", "RUNNING")
    again = Watched(watched.kept())
    again.read(600, "STARTING", "STARTING", "RUNNING")
    assert again.told("a") == [("Paused", Cause.UNKNOWN), ("Running", Cause.SERVER)]
    assert [again.memories.by_id[name].state(at(600)).words for name in ("a", "b")] == ["Running", "Starting"]
    old = Conversation(id="c", sandbox_id="a", updated_at=at(-3600))
    row = sandbox_row(sandbox("STARTING", "a"), again.memories.by_id["a"], (old,))
    assert row.quiet(at(600)) == 540, "its conversation is older than its running"
    row = sandbox_row(sandbox("RUNNING", "c"), again.memories.by_id["c"], (old,))
    assert row.quiet(at(600)) == 4200, "nobody saw how long it runs"


def test_what_another_deck_noted_stays_and_what_was_not_seen_for_thirty_days_is_forgotten() -> None:
    watched, other, wrong = Watched(), Watched(), Watched()
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    watched.memories.forget(["b"])
    other.read(0, "-", "-", "-", "PAUSED")
    again = Watched(watched.kept(beside=other.kept()))
    for days, left in ((29, "abcd"), (31, "a")):
        again.read(days * DAY, "RUNNING")
        assert set(again.kept().sandboxes) == {*left}
    wrong.read(9_999 * DAY, "-", "-", "RUNNING")
    again = Watched(wrong.kept())
    again.read(0, "RUNNING", "PAUSED")
    assert set(again.kept(beside=wrong.kept()).sandboxes) == {*"abc"}, "a clock that was wrong once forgets nothing"


def test_what_another_deck_asked_for_was_you_as_well() -> None:
    watched, other = Watched(), Watched()
    for deck in (watched, other):
        deck.read(0, "RUNNING")
    before = other.kept()
    other.memories.asked("a", Action.PAUSE, at(1))
    for deck in (watched, other):
        deck.read(3, "PAUSED")
    assert watched.told("a")[-1] == ("Paused", Cause.SERVER)
    kept = watched.kept(beside=other.kept())
    watched.timelines.recall(kept)
    assert watched.told("a") == other.told("a") == Watched(kept).told("a")
    assert watched.told("a")[-1] == ("Paused", Cause.YOU)
    for late in (Watched(), Watched(before)):  # decks that were opened later, one before this was kept
        late.read(4, "PAUSED")
        assert Watched(late.kept(beside=kept)).told("a") == watched.told("a")


def test_thousands_of_sandboxes_are_bounded_and_those_that_changed_last_are_kept() -> None:
    one, other = SandboxMemories(), SandboxMemories()
    one.observe([sandbox("RUNNING", f"{number}") for number in range(2 * IDS)], at(0), beginning=False)
    one.observe([sandbox("PAUSED", "0"), sandbox("RUNNING", "new")], at(5), beginning=True)
    one.observe([sandbox("RUNNING", f"later {number}") for number in range(2 * IDS)], at(9), beginning=False)
    assert ([event.what for event in one.timelines.of("0")], one.timelines.of("1")) == (["Running", "Paused"], ())
    other.observe([sandbox("RUNNING", "other")], at(0), beginning=False)
    mine, theirs = one.timelines.kept(), other.timelines.kept()
    assert mine is not None
    kept = mine.joined(theirs).sandboxes
    assert (len(kept), "new" in kept) == (IDS, True)


def test_the_oldest_running_ones_are_named_when_the_cap_is_reached() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING", each) for each in ("b", "c", "d", "old")], at(0), beginning=False)
    displacement = displacing(memories, ("old", "b", "c", "d"), {"old": "Fix login"})

    def foreseen(cap: int | None, count: int = 1) -> str:
        displacement.learned = KeptCap(cap=cap)
        return displacement.forecast(count)

    one = "4 of about 4 run already: the server will likely pause the oldest one, old (Fix login)."
    assert foreseen(cap=4) == one
    assert foreseen(cap=4, count=2).endswith("the 2 oldest ones, old (Fix login), b.")
    assert foreseen(cap=4, count=9).endswith("the 4 oldest ones, old (Fix login), b, c and 1 more.")
    assert {foreseen(cap=cap) for cap in (5, 3, None)} == {""}, "below the cap, beyond it, and without one"


@pytest.mark.parametrize(
    ("before", "running", "after", "cap"),
    [
        (KeptCap(cap=7), 5, "PAUSED RUNNING", KeptCap(cap=5)),
        (KeptCap(), 5, "PAUSED PAUSED RUNNING", KeptCap(cap=4)),
        (KeptCap(cap=5), 5, "RUNNING", KeptCap(cap=None)),
        (KeptCap(cap=5), 4, "RUNNING", KeptCap(cap=5)),
        (KeptCap(), 50, "RUNNING", KeptCap()),
    ],
)
def test_what_made_room_teaches_the_cap(before: KeptCap, running: int, after: str, cap: KeptCap) -> None:
    ids, memories = [f"{number:02}" for number in range(running)], SandboxMemories()
    displacement, displacement.learned = displacing(memories, ids, {}), before
    memories.observe([sandbox("RUNNING", each) for each in ids], at(0), beginning=False)
    with displacement.asking() as start:
        start.answered("new", at(1))
    read = [sandbox(status, each) for status, each in zip(after.split(), ids, strict=False)]
    memories.observe([*read, sandbox("RUNNING", "new")], at(2), beginning=True)
    for second in (2, 40):
        list(displacement.read(at(second)))
    assert displacement.kept() == cap
