import asyncio
from pathlib import Path

import pytest

from quarterdeck.fleet import kept
from quarterdeck.tui.app import notice
from quarterdeck.tui.kept_state import KeptState, M
from quarterdeck.tui.text import line
from tests.tui.fake_fleet import FakeFleet, at_conversations, comes_to
from tests.tui.user import WIDE, User


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    fleet.add("box")
    for conversation_id, title in {"c1": "Fix login", "c2": "Migrate schema", "c3": "Upgrade httpx"}.items():
        fleet.talk(conversation_id, "box", title, execution_status="running")
    fleet.conversations["c1"]["updated_at"] = "2026-03-14T10:02:00Z"
    fleet.talk("c0", "box", "Long done", execution_status="finished", created_at="2026-03-14T08:00:00Z")
    return fleet


def unseen(user: User) -> set[str]:
    return {row.id for row in user.rows.values() if row.unread}


async def test_what_came_to_something_is_marked_until_its_detail_was_opened(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as user:
        assert "unread" not in user.line(1)
        await comes_to(user, fleet, c1="finished", c2="waiting_for_confirmation", c3="stuck")
        await user.sees("1 needs you  + 3 unread")
        for title, mark in (("Fix login", "+ ✓ Finished"), ("Migrate", "+!◆ Needs you"), ("Upgrade", "+!✕ Stuck")):
            assert mark in user.line_of(title)
        assert "+" not in user.line_of("Long done")
        await user.go_to("c2", "i", sees="children")
        await user.press("escape", sees="1 needs you  + 2 unread", until=lambda: " !◆ Needs" in user.line_of("Migrate"))
        assert "+!" not in user.line_of("Migrate schema")


async def test_one_key_marks_all_that_are_shown_as_seen(fleet: FakeFleet) -> None:
    async with at_conversations(fleet, size=(60, 20)) as user:
        await user.press("A", sees="Nothing is unread.")
        await comes_to(user, fleet, c1="finished", c2="finished", c3="waiting_for_confirmation")
        await user.press("asterisk", "slash", *"login", "enter", sees="4 marked, 3 hidden by the filter")
        await user.press("A", sees="1 marked as read. 2 that the filter hides stay unread.")
        await user.press("A", sees="Nothing is unread among these; the filter hides 2.")
        await user.press("escape", "A", sees="2 marked as read.")
        await user.until(lambda: not unseen(user) and "unread" not in user.line(1))


async def test_the_filter_finds_the_unseen_and_who_needs_somebody(fleet: FakeFleet) -> None:
    async with at_conversations(fleet, size=WIDE) as user:
        await comes_to(user, fleet, c1="finished", c2="waiting_for_confirmation")
        await user.press("slash", *"unseen ", until=lambda: set(user.table.ids) == {"c1", "c2"})
        await user.press(*"needs-you", until=lambda: set(user.table.ids) == {"c2"})
        await user.press("enter", "i", sees="children")
        await user.press("escape", sees="0 of 4 match.")
        await user.press("escape", "f", sees=("Show rows by state", "[x] ✓ Finished", "[x] ◆ Needs you"))
        await user.press("space", "enter", until=lambda: set(user.table.ids) == {"c2", "c3"})


async def test_what_two_decks_saw_is_kept(fleet: FakeFleet, state: KeptState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "REST", 2.0)
    async with at_conversations(fleet, state=state, sees="● 3 Working  ✓ 1 Finished") as one:
        async with at_conversations(fleet, state=state) as other:
            for user in (one, other):
                await comes_to(user, fleet, c1="finished", c2="finished")
                await user.sees("● 1 Working  ✓ 3 Finished", "+ 2 unread")
            await other.go_to("c1", "enter", "escape")
        one.session.unread.mark_read(["c2"], one.deck.clock())
        await one.until(lambda: not unseen(one))
    fleet.conversations["c3"]["execution_status"] = "error"
    async with at_conversations(fleet, state=state) as again:
        await again.until(lambda: unseen(again) == {"c3"})


async def watch(user: User, *ids: str) -> None:
    for each in ids:
        await user.go_to(each, "w")
    await user.sees("watching: ")


async def test_a_very_long_title_pushes_nothing_out_of_sight(fleet: FakeFleet) -> None:
    fleet.conversations["c2"]["title"] = "Migrate " + "one more table, " * 60
    async with at_conversations(fleet, size=(60, 20)) as user:
        await user.go_to("c2", "w", sees=("Watching Migrate one more", "bell"))
        await user.press("D", sees=("Migrate one more", "so that stays", "Type c2 to go on"), lacks="bell")
        await comes_to(user, fleet, c2="finished")
        await user.until(lambda: "…: Finished." in user.unwrapped)


@pytest.mark.parametrize("size", [(60, 20), WIDE])
async def test_a_line_says_on_every_screen_how_the_watched_one_is(fleet: FakeFleet, size: tuple[int, int]) -> None:
    fleet.add("lonely")
    async with at_conversations(fleet, size=size) as user:
        assert "watching" not in user.text
        await watch(user, "c2")
        await user.sees("Watching Migrate schema: a bell says", " watching: Migrate schema - ● Working\n")
        await user.until(lambda: "◉ Migrate" in user.text)
        for place in "23":
            await user.press(place, sees=" watching: Migrate schema - ● Working\n")
        fleet.conversations["c2"]["execution_status"] = "waiting_for_confirmation"
        user.session.conversations.refresh()
        await user.sees("watching: Migrate schema - ◆ Needs you (<1m)", "Migrate schema: Needs you.")
        await user.press("1")
        await watch(user, "c1")
        await comes_to(user, fleet, c1="finished", c2="error")
        await user.sees("watching: Migrate schema - ✕ Error (<1m) +1", "Fix login: Finished.")
        await user.go_to("c1", "space")
        await user.go_to("c2", "space", "w", sees="No longer watching 2 conversations.")
        await user.press("w", sees="Watching 2 conversations: a bell says when one needs you")
        await user.press("w", until=lambda: "watching: " not in user.text and "◉" not in user.text)
        await user.press("2")
        await user.go_to("lonely", "w", sees="No conversation lives in it.")
        await watch(user, "box")
        assert list(user.session.unread.watched) == ["c3"], "the one at work, which its row names"
        await user.press("w", until=lambda: not user.session.unread.watched)


async def test_the_next_run_watches_the_same_and_says_what_came_of_them(fleet: FakeFleet, state: KeptState) -> None:
    async with at_conversations(fleet, state=state) as user:
        await watch(user, "c1", "c2", "c3")
    fleet.conversations["c1"]["execution_status"] = "waiting_for_confirmation"
    del fleet.conversations["c3"]
    async with at_conversations(fleet, state=state, sees=("watching: Fix login - ◆ Needs you", "+1")) as user:
        await user.until(lambda: set(user.session.unread.watched) == {"c1", "c2"})
        await user.press("w", until=lambda: set(user.session.unread.watched) == {"c2"})
    async with at_conversations(fleet, state=state) as user:
        await user.sees("watching: Migrate schema - ● Working")


@pytest.mark.parametrize(
    ("environ", "written"),
    [
        ({"TERM": "xterm-256color"}, "\x1b]777;notify;Quarterdeck;a␛, b: Finished.\x07"),
        ({"TERM": "xterm", "LC_TERMINAL": "iTerm2"}, "\x1b]9;Quarterdeck: a␛, b: Finished.\x07"),
        ({"TERM": "tmux", "TMUX": "/tmp/x"}, "\x1bPtmux;\x1b\x1b]777;notify;Quarterdeck;a␛, b: Finished.\x07\x1b\\"),
        ({"TERM": "linux"}, ""),
    ],
)
def test_a_notice_is_written_as_the_terminal_takes_it(environ: dict[str, str], written: str) -> None:
    assert notice(line("a\x1b; b: Finished."), environ) == written


class Late(KeptState):
    async def read(self, model: type[M], about: str) -> M:
        await asyncio.Event().wait()
        return await super().read(model, about)


@pytest.mark.parametrize(("kind", "why"), [(KeptState, "Not a directory."), (Late, "the disk does not answer.")])
async def test_watching_works_without_a_file(fleet: FakeFleet, tmp_path: Path, kind: type[KeptState], why: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "unread").write_text("no folder")
    async with at_conversations(fleet, state=kind(tmp_path / "state"), size=WIDE) as user:
        await user.sees("Not everything is noted down for the next run:", why)
        await watch(user, "c1")
        await comes_to(user, fleet, c1="finished")
        await user.sees("Fix login: Finished.", "+ 1 unread")
