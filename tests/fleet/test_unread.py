import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet import kept as keeping
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.news import News
from quarterdeck.fleet.unread import KEPT, MOST_WATCHED, KeptUnread, Unread
from tests.client.fakes import under_way

from .fakes import at


def record(word: str, name: str = "c", updated: float = 0.0) -> Conversation:
    """A record with the word of its agent, or, like PAUSED, of a sandbox that does not let its agent be heard."""
    agent, sandbox = (None, word) if word.isupper() else (word, "RUNNING")
    return Conversation(name, f"Title {name}", None, sandbox, agent, updated_at=at(updated))


def read(marks: Unread, second: float, word: str, name: str, updated: float) -> list[str]:
    told = record(word, name, updated)
    changed = marks.read([told], {name}, ServerClock(at(second)))
    return [news.words for news in marks.calls(changed, {name: told}, whole=False)]


NOTHING = KeptUnread()


def kept(marks: Unread, before: KeptUnread = NOTHING) -> KeptUnread:
    """What the next run finds in the file."""
    mine = marks.kept()
    assert mine is not None
    return KeptUnread.model_validate_json(mine.joined(before).model_dump_json())


def again(note: KeptUnread) -> Unread:
    marks = Unread(lambda news: None)
    marks.recall(note)
    return marks


def told(story: str, rung: list[str] | None = None) -> Unread:
    """The marks after what is told; what is rung for is added to `rung`.

    `running@0` is a reading of c, `b:finished@5` one of b, `b:finished@9/5` one of b as it was at second 5; `look@6` is
    a look at c, `watch@6` watches it, and after `restart` it is the next run.
    """
    marks, heard = Unread(lambda news: None), [] if rung is None else rung
    for step in story.split():
        what, _, when = step.partition("@")
        name, _, word = what.rpartition(":")
        name, (second, _, updated) = name or "c", when.partition("/")
        match word:
            case "look":
                marks.mark_read([name], at(float(second)))
            case "watch":
                marks.watch({name: record("running", name)})
            case "restart":
                marks = again(kept(marks))
            case _:
                heard += read(marks, float(second), word, name, float(updated or second))
    return marks


@pytest.mark.parametrize(
    ("unread", "several"),
    [
        # what an agent came to is unread until somebody looks
        ("c", [f"running@0 {agent}@5" for agent in ("finished", "error", "stuck", "waiting_for_confirmation")]),
        ("", ["running@0 finished@5 finished@6 look@6 finished@7", "running@0 finished@0 look@0"]),
        # what had happened before the first reading is not, and what is new is
        ("nw", ["o:finished@0 w:running@0 n:finished@9 w:finished@9"]),
        # a mark outlives the sleep of the sandbox and ends when the agent works again
        ("c", ["running@0 finished@5 PAUSED@6", "running@0 finished@5 PAUSED@6 running@7 finished@8"]),
        ("", ["running@0 finished@5 PAUSED@6 running@7"]),
        # a broken sandbox is no news of the agent, and a look at work under way takes no mark of what comes of it
        ("", ["running@0 ERROR@5"]),
        ("c", ["running@0 look@4 finished@5"]),
        # the same word is unread again after somebody dealt with it, and where it changed long after it was settled
        ("c", ["running@0 waiting_for_confirmation@5 look@8 idle@9 waiting_for_confirmation@10"]),
        ("", ["running@0 waiting_for_confirmation@5 idle@9", "running@0 finished@5 look@8 finished@39"]),
        ("", ["running@0 finished@5 look@35 finished@107/77 finished@147/137"]),
        ("c", ["running@0 finished@5 look@8 finished@100"]),
        ("", ["running@0 finished@5 look@8 finished@100 look@101 finished@102"]),
        # another outcome is unread again, however soon after the look
        ("c", ["running@0 waiting_for_confirmation@5 look@8 error@9"]),
        # the next run finds the marks before it has read anything, and then what happened meanwhile
        ("a", ["a:running@0 b:finished@0 a:finished@5 restart"]),
        ("cd", ["b:finished@0 d:running@5 restart b:finished@900/0 c:finished@900/800 d:finished@900/800"]),
        ("", ["running@0 finished@5 look@8 restart finished@900/5"]),
        ("c", ["running@0 finished@5 look@8 restart finished@900/600"]),
        # a late change of what was looked at sets no mark in this run nor in the next
        ("", [f"running@0 finished@5 look@8 finished@30/20{later}" for later in ("", " restart finished@900/20")]),
        # a clock that was wrong once hides no news
        ("n", ["o:finished@9000000 restart o:running@10 n:finished@20/15"]),
    ],
)
def test_what_an_agent_came_to_is_unread_until_somebody_looks(unread: str, several: list[str]) -> None:
    for story in several:
        assert told(story).ids == set(unread), story


def test_with_two_decks_what_one_missed_is_unseen_in_the_end_and_what_only_one_has_read_is_kept() -> None:
    one = told("a:running@0 a:finished@5 running@0 finished@5 look@8 running@20 finished@40")
    other = told("b:running@0 b:finished@5 running@0 finished@5")
    for note in (kept(one, kept(other)), kept(other, kept(one))):
        assert again(note).ids == {"a", "b", "c"}


def test_that_another_deck_read_it_at_work_neither_takes_a_mark_nor_lets_the_same_result_ring_again() -> None:
    one, other = told("running@0 watch@0 running@5 finished@10"), told("running@0 running@8")
    one.recall(kept(other))
    assert one.ids == again(kept(one, kept(other))).ids == {"c"}
    assert not read(one, 12, "finished", "c", updated=10)


def test_only_the_newest_are_noted_and_what_is_left_out_does_not_come_back_as_news() -> None:
    numbers = range(10, KEPT + 20)
    story = "w:running@0 " + " ".join(f"{number}:finished@{number} {number}:look@{number}" for number in numbers)
    assert len(kept(told(story)).conversations) == KEPT
    again_read = " ".join(f"{number}:finished@90000/{number}" for number in numbers)
    assert told(f"{story} restart {again_read}").ids == set()


@pytest.mark.parametrize(
    ("story", "words"),
    [
        *((f"running@0 watch@0 {out}@1 {out}@2", [out.title()]) for out in ("finished", "error", "stuck")),
        ("running@0 watch@0 waiting_for_confirmation@1 waiting_for_confirmation@2", ["Needs you"]),
        ("finished@0 watch@0 idle@1", []),
        ("finished@0 watch@0 finished@1 waiting_for_confirmation@2", ["Needs you"]),
        ("running@0 watch@0 finished@1 PAUSED@2 STARTING@3 RUNNING@4 finished@5 ERROR@6", ["Finished"]),
        # what ends again between two readings rings again, though nobody has looked
        ("running@0 watch@0 finished@5 finished@6 finished@100", ["Finished", "Finished"]),
    ],
)
def test_what_a_watched_one_comes_to_is_rung_for_once(story: str, words: list[str]) -> None:
    rung: list[str] = []
    told(story, rung)
    assert rung == [f"Title c: {word}." for word in words]


def test_the_next_run_rings_for_what_happened_meanwhile_and_for_what_another_deck_watches() -> None:
    one, other = told("a:running@0 b:running@0 a:finished@10"), told("d:running@0")
    one.watch({name: record("running", name=name) for name in "abc"})
    one.unwatch("c")
    other.watch({"d": record("running", name="d")})
    later = again(kept(one, kept(other)))
    assert later.watched.keys() == {"a", "b", "d"}
    assert not read(later, 900, "finished", "a", updated=10)
    assert read(later, 900, "error", "b", updated=700)
    found = later.by_urgency({name: record("finished", name=name) for name in "ab"})
    assert {each.id: each.since for each in found} == {"a": at(10).timestamp(), "b": at(700).timestamp(), "d": 0.0}
    later.unwatch("a")
    assert again(kept(later, kept(one, kept(other)))).watched.keys() == {"b", "d"}


def test_two_decks_watch_the_same_whichever_of_them_begins_or_ends_it() -> None:
    decks, note = (told("c:running@0"), told("c:running@0")), NOTHING
    for deck, watching in ((0, {"c"}), (1, set()), (0, {"c"}), (0, set()), (1, {"c"})):
        if watching:
            decks[deck].watch({"c": record("running")})
        else:
            decks[deck].unwatch("c")
        for each in (decks[deck], decks[1 - deck]):
            note = kept(each, note)
            each.recall(note)
        assert decks[0].watched.keys() == decks[1].watched.keys() == watching


def test_what_two_decks_watch_beyond_the_room_stays_noted_and_each_keeps_its_own() -> None:
    told_of: list[News] = []
    decks, note = {"a": Unread(told_of.append), "b": Unread(told_of.append)}, NOTHING
    mine = {deck: {f"{deck}{number}" for number in range(MOST_WATCHED - 5)} for deck in decks}
    for deck, marks in decks.items():
        read(marks, 0, "running", "c", updated=0)
        marks.watch({name: record("running", name) for name in mine[deck]})
    for deck in "abab":
        note = kept(decks[deck], note)
        decks[deck].recall(note)
    assert note.watched.keys() == mine["a"] | mine["b"]
    for deck, marks in decks.items():
        assert (len(marks.watched), mine[deck] < marks.watched.keys()) == (MOST_WATCHED, True)
    words = "20 can be watched at a time; 10 that another deck or run watched are not."
    assert [news.words for news in told_of if news.words] == [words, words]


def test_what_is_watched_again_while_its_end_is_being_saved_stays_watched() -> None:
    marks = told("c:running@0")
    marks.watch({"c": record("running")})
    marks.recall(kept(marks))
    marks.unwatch("c")
    note = kept(marks, kept(told("c:running@0")))
    marks.watch({"c": record("running")})
    marks.recall(note)
    assert marks.watched.keys() == kept(marks, note).watched.keys() == {"c"}


class SlowFiles:
    """State files that take until somebody lets them go on; the first writes may fail."""

    def __init__(self, fails: int = 0) -> None:
        self.fails = fails
        self.contents: Any = NOTHING
        self.begun, self.gate = asyncio.Event(), asyncio.Event()

    async def read(self, model: type[Any], about: str) -> Any:
        return self.contents

    async def change(self, model: type[Any], about: str, change: Callable[[Any], Any]) -> Any:
        if self.fails:
            self.fails -= 1
            raise ServiceError(ErrorKind.LOCAL, "The disk is full.")
        changed = change(self.contents)
        self.begun.set()
        await self.gate.wait()
        self.contents = changed
        return changed


async def test_a_look_while_an_earlier_one_is_being_saved_is_saved_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "REST", 0)
    marks, files = told("a:running@0 b:running@0 a:finished@10 b:finished@11"), SlowFiles()
    saving = asyncio.create_task(keeping.Keeper(files, "server", lambda news: None).keep(marks))
    marks.mark_read(["a"], at(12))
    await files.begun.wait()
    marks.mark_read(["b"], at(13))
    saving.cancel()
    files.gate.set()
    await asyncio.wait((saving,))
    assert not again(files.contents).ids


async def test_what_could_not_be_saved_once_is_saved_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "REST", 0)
    marks, files, told_of = told("a:running@0 a:finished@10"), SlowFiles(fails=2), list[News]()
    files.gate.set()
    async with under_way(keeping.Keeper(files, "server", told_of.append).keep(marks)):
        marks.mark_read(["a"], at(12))
        await asyncio.wait_for(files.begun.wait(), 5)
    assert [news.words for news in told_of] == ["Not everything is noted down for the next run: The disk is full."]
    assert not again(files.contents).ids
