from datetime import timedelta
from pathlib import Path

import pytest

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.tui.lists import screen as list_screen
from tests.local.conftest import processes
from tests.tui.conftest import Sit
from tests.tui.seat import NARROW, WIDE, Seat


async def start(seat: Seat) -> None:
    await seat.press("2", sees="No sandboxes.")
    await seat.press("n", sees=("Start a sandbox", "files  (default)", "shell", "{port}"))
    command, rest = (line for line in seat.text.splitlines() if "command  " in line or "{port}" in line)
    at = command.index("command")
    assert not rest[at : at + 13].strip(), "it is wrapped beside its label"
    await seat.press("enter", sees=("● Running", "1 Running", "asked for; the list shows when it runs."))


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_sandbox_is_started_paused_and_resumed_by_keys_and_outlives_the_deck(
    sit: Sit, folder: Path, size: tuple[int, int]
) -> None:
    async with sit(size=size) as seat:
        await start(seat)
        await seat.press("p", sees=("‖ Paused", "1 Paused"))
        assert {process.state for process in processes(folder)} == {"T"}
        await seat.press("r", sees=("● Running", "1 Running"))
        assert "T" not in {process.state for process in processes(folder)}
        await seat.press("p", sees="‖ Paused")
    assert {process.state for process in processes(folder)} == {"T"}
    async with sit() as seat:
        await seat.press("2", sees="‖ Paused")


async def test_a_key_that_can_do_nothing_says_why_and_what_would(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("2", sees="No sandboxes.")
        await seat.press("p", sees="Pause: there is no row here.")
        await start(seat)
        await seat.press("r", sees="It is running already. p pauses it.")
        await seat.press("o", sees="no conversation lives in it")
        await seat.press("p", sees="‖ Paused")
        await seat.press("p", sees="It is paused already. r resumes it.")


async def test_the_detail_shows_the_record_but_no_key_and_cursor_and_marks_stay_with_it(sit: Sit) -> None:
    async with sit() as seat:
        await start(seat)
        (record,) = seat.session.sandboxes.records.values()
        assert record.session_api_key is not None
        await seat.press("enter")
        await seat.sees(record.id, "sandbox status", "worker_1", "http://127.0.0.1:", "known, not shown")
        assert record.session_api_key.get_secret_value() not in seat.text
        await seat.press("escape", until=lambda: seat.deck.screen is seat.list_screen)
        await seat.press("space")
        await seat.session.start("shell")
        await seat.sees("2 Running")
        assert seat.list_screen.table.cursor_id == record.id
        assert seat.list_screen.table.marks == {record.id}


async def test_what_is_said_beside_the_list_ages_while_nothing_happens(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_screen, "AGED_AFTER", 0.5)
    async with sit(size=WIDE) as seat:
        await start(seat)
        await seat.sees("sandbox status", SandboxStatus.RUNNING)
        began = seat.deck.clock
        seat.deck.clock = lambda: began() + timedelta(minutes=7)
        await seat.sees("quiet for       7m")
