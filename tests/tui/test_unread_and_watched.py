import asyncio
from pathlib import Path

import pytest

from quarterdeck.fleet import kept
from quarterdeck.tui.app import notice
from quarterdeck.tui.kept_state import KeptState, M
from quarterdeck.tui.text import line
from tests.tui.fake_fleet import FakeFleet, at_conversations, comes_to
from tests.tui.seat import WIDE, Seat


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    fleet.add("box")
    for conversation_id, title in {"c1": "Fix login", "c2": "Migrate schema", "c3": "Upgrade httpx"}.items():
        fleet.talk(conversation_id, "box", title, execution_status="running")
    fleet.conversations["c1"]["updated_at"] = "2026-03-14T10:02:00Z"
    fleet.talk("c0", "box", "Long done", execution_status="finished", created_at="2026-03-14T08:00:00Z")
    return fleet


def unseen(seat: Seat) -> set[str]:
    return {row.id for row in seat.rows.values() if row.unread}


async def test_what_came_to_something_is_marked_until_its_detail_was_opened(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        assert "unread" not in seat.line(1)
        await comes_to(seat, fleet, c1="finished", c2="waiting_for_confirmation", c3="stuck")
        await seat.sees("1 needs you  + 3 unread")
        assert "+ ✓ Finished" in seat.line_of("Fix login")
        assert "+!◆ Needs you" in seat.line_of("Migrate schema")
        assert "+!✕ Stuck" in seat.line_of("Upgrade httpx")
        assert "+" not in seat.line_of("Long done")
        await seat.go_to("c2", "i", sees="children")
        await seat.press("escape", sees="1 needs you  + 2 unread")
        assert " !◆ Needs you" in seat.line_of("Migrate schema")
        assert "+!" not in seat.line_of("Migrate schema")


async def test_one_key_marks_all_that_are_shown_as_seen(fleet: FakeFleet) -> None:
    async with at_conversations(fleet, size=(60, 20)) as seat:
        await seat.press("A", sees="Nothing is unread.")
        await comes_to(seat, fleet, c1="finished", c2="finished", c3="waiting_for_confirmation")
        await seat.press("asterisk", "slash", *"login", "enter", sees="4 marked, 3 hidden by the filter")
        await seat.press("A", sees="1 marked as read. 2 that the filter hides stay unread.")
        await seat.press("A", sees="Nothing is unread among these; the filter hides 2.")
        await seat.press("escape", "A", sees="2 marked as read.")
        await seat.until(lambda: not unseen(seat) and "unread" not in seat.line(1))


async def test_the_filter_finds_the_unseen_and_who_needs_somebody(fleet: FakeFleet) -> None:
    async with at_conversations(fleet, size=WIDE) as seat:
        await comes_to(seat, fleet, c1="finished", c2="waiting_for_confirmation")
        await seat.press("slash", *"unseen ", until=lambda: set(seat.table.ids) == {"c1", "c2"})
        await seat.press(*"needs-you", until=lambda: set(seat.table.ids) == {"c2"})
        await seat.press("enter", "i", sees="children")
        await seat.press("escape", sees="0 of 4 match.")
        await seat.press("escape", "f", sees=("Show rows by state", "[x] ✓ Finished", "[x] ◆ Needs you"))
        await seat.press("space", "enter", until=lambda: set(seat.table.ids) == {"c2", "c3"})


async def test_what_two_decks_saw_is_kept(fleet: FakeFleet, state: KeptState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "REST", 2.0)
    async with at_conversations(fleet, state=state, sees="● 3 Working  ✓ 1 Finished") as one:
        async with at_conversations(fleet, state=state) as other:
            for seat in (one, other):
                await comes_to(seat, fleet, c1="finished", c2="finished")
                await seat.sees("● 1 Working  ✓ 3 Finished", "+ 2 unread")
            await other.go_to("c1", "enter", "escape")
        one.session.unread.mark_read(["c2"], one.deck.clock())
        await one.until(lambda: not unseen(one))
    fleet.conversations["c3"]["execution_status"] = "error"
    async with at_conversations(fleet, state=state) as again:
        await again.until(lambda: unseen(again) == {"c3"})


async def watch(seat: Seat, *ids: str) -> None:
    for each in ids:
        await seat.go_to(each, "w")
    await seat.sees("watching: ")


async def test_a_very_long_title_pushes_nothing_out_of_sight(fleet: FakeFleet) -> None:
    fleet.conversations["c2"]["title"] = "Migrate " + "one more table, " * 60
    async with at_conversations(fleet, size=(60, 20)) as seat:
        await seat.go_to("c2", "w", sees=("Watching Migrate one more", "bell"))
        await seat.press("D", sees=("Migrate one more", "so that stays", "Type c2 to go on"), lacks="bell")


@pytest.mark.parametrize("size", [(60, 20), WIDE])
async def test_a_line_says_on_every_screen_how_the_watched_one_is(fleet: FakeFleet, size: tuple[int, int]) -> None:
    fleet.add("lonely")
    async with at_conversations(fleet, size=size) as seat:
        assert "watching" not in seat.text
        await watch(seat, "c2")
        await seat.sees("Watching Migrate schema: a bell says", " watching: Migrate schema - ● Working\n")
        await seat.until(lambda: "◉ Migrate" in seat.text)
        for place in "23":
            await seat.press(place, sees=" watching: Migrate schema - ● Working\n")
        fleet.conversations["c2"]["execution_status"] = "waiting_for_confirmation"
        seat.session.conversations.refresh()
        await seat.sees("watching: Migrate schema - ◆ Needs you (<1m)", "Migrate schema: Needs you.")
        await seat.press("1")
        await watch(seat, "c1")
        await comes_to(seat, fleet, c1="finished", c2="error")
        await seat.sees("watching: Migrate schema - ✕ Error (<1m) +1", "Fix login: Finished.")
        await seat.go_to("c1", "space")
        await seat.go_to("c2", "space", "w", sees="No longer watching 2 conversations.")
        await seat.until(lambda: "watching: " not in seat.text and "◉" not in seat.text)
        await seat.press("2")
        await seat.go_to("lonely", "w", sees="No conversation lives in it.")
        await watch(seat, "box")
        assert list(seat.session.unread.watched) == ["c3"], "the one at work, which its row names"
        await seat.press("w", until=lambda: not seat.session.unread.watched)


async def test_the_next_run_watches_the_same_and_says_what_came_of_them(fleet: FakeFleet, state: KeptState) -> None:
    async with at_conversations(fleet, state=state) as seat:
        await watch(seat, "c1", "c2", "c3")
    fleet.conversations["c1"]["execution_status"] = "waiting_for_confirmation"
    del fleet.conversations["c3"]
    async with at_conversations(fleet, state=state, sees=("watching: Fix login - ◆ Needs you", "+1")) as seat:
        await seat.until(lambda: set(seat.session.unread.watched) == {"c1", "c2"})
        await seat.press("w", until=lambda: set(seat.session.unread.watched) == {"c2"})
    async with at_conversations(fleet, state=state) as seat:
        await seat.sees("watching: Migrate schema - ● Working")


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
    async def read(self, model: type[M], about: str) -> M | None:
        await asyncio.Event().wait()
        return await super().read(model, about)


@pytest.mark.parametrize(("kind", "why"), [(KeptState, "Not a directory."), (Late, "the disk does not answer.")])
async def test_watching_works_without_a_file(fleet: FakeFleet, tmp_path: Path, kind: type[KeptState], why: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "unread").write_text("no folder")
    async with at_conversations(fleet, state=kind(tmp_path / "state"), size=WIDE) as seat:
        await seat.sees("Not everything is noted down for the next run:", why)
        await watch(seat, "c1")
        await comes_to(seat, fleet, c1="finished")
        await seat.sees("Fix login: Finished.", "+ 1 unread")
