"""Watched conversations: a line on every screen, what they came to said wherever one is, kept for the next run."""

import asyncio
from pathlib import Path

import pytest

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.tui.app import notice
from quarterdeck.tui.kept_state import KeptState, M
from quarterdeck.tui.text import line
from tests.tui.fake_fleet import FakeFleet, at_conversations, comes_to
from tests.tui.seat import WIDE, Seat


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    fleet.add("box")
    fleet.add("lonely")
    fleet.talk("c1", "box", "Fix login", execution_status="running", updated_at="2026-03-14T10:02:00Z")
    fleet.talk("c2", "box", "Migrate schema", execution_status="running")
    return fleet


async def watch(seat: Seat, *ids: str) -> None:
    for each in ids:
        await seat.go_to(each, "w")
    await seat.sees("watching: ")


@pytest.mark.parametrize("size", [(60, 20), WIDE])
async def test_a_line_says_on_every_screen_how_the_watched_one_is_until_w_ends_it(
    fleet: FakeFleet, size: tuple[int, int]
) -> None:
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
        await seat.press("asterisk", "w", sees="No longer watching 2 conversations.")
        await seat.until(lambda: "watching: " not in seat.text and "◉" not in seat.text)
        await seat.press("2")
        await seat.go_to("lonely", "w", sees="no conversation lives in it.")
        await watch(seat, "box")
        assert list(seat.session.unread.watched) == ["c1"]
        await seat.press("w", until=lambda: not seat.session.unread.watched)


async def test_the_next_run_watches_the_same_and_says_what_came_of_them(fleet: FakeFleet, tmp_path: Path) -> None:
    state = KeptState(tmp_path / "state")
    fleet.talk("c3", "box", "Tidy up", execution_status="running")
    async with at_conversations(fleet, state=state) as seat:
        await watch(seat, "c1", "c2", "c3")
    fleet.conversations["c1"]["execution_status"] = "waiting_for_confirmation"
    del fleet.conversations["c3"]
    async with at_conversations(fleet, state=state) as seat:
        await seat.sees("watching: Fix login - ◆ Needs you", "+1")
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


class Unreadable(KeptState):
    async def read(self, model: type[M], about: str) -> M | None:
        if model.kind == "unread":
            raise ServiceError(ErrorKind.LOCAL, f"The page of {model.kind} is no file.")
        return await super().read(model, about)


class Late(KeptState):
    async def read(self, model: type[M], about: str) -> M | None:
        await asyncio.Event().wait()
        return await super().read(model, about)


@pytest.mark.parametrize(("kind", "why"), [(Unreadable, "The page"), (Late, "the disk does not answer.")])
async def test_where_nothing_can_be_kept_that_is_said_and_the_watch_works(
    fleet: FakeFleet, tmp_path: Path, kind: type[KeptState], why: str
) -> None:
    async with at_conversations(fleet, state=kind(tmp_path / "state"), size=(120, 36)) as seat:
        await seat.sees(f"Not everything is noted down for the next run: {why}")
        await watch(seat, "c1")
        await comes_to(seat, fleet, c1="finished")
        await seat.sees("Fix login: Finished.", "+ 1 unread")
