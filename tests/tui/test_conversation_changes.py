"""Conversations renamed, deleted one by one and many at once, and their trajectories saved."""

import stat
from pathlib import Path

import pytest

from quarterdeck.config.connections import Connection
from quarterdeck.fleet.bulk import RowState
from tests.tui.fake_fleet import PROD, FakeFleet, at_conversations
from tests.tui.seat import NARROW, Seat

ZIP = b"PK\x03\x04" + bytes(5000)


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet(nested=True, trajectories={"c1": ZIP})
    fleet.add("box")
    for number in range(4):
        fleet.talk(f"c{number}", "box", f"Talk {number}", updated_at=f"2026-03-14T1{number}:00:00Z")
    return fleet


async def clear(seat: Seat) -> None:
    await seat.press("end", "ctrl+u")


# Rename


async def test_a_conversation_gets_the_title_that_was_typed(fleet: FakeFleet, tmp_path: Path) -> None:
    async with at_conversations(fleet, tmp_path) as seat:
        seat.list_screen.table.move_to("c1")
        await seat.press("e")
        await seat.sees("Rename the conversation", "Talk 1")
        await clear(seat)
        await seat.press("enter")
        await seat.sees("A title has at least one letter.")
        await seat.type("Port the parser")
        await seat.press("enter")
        await seat.sees("It is called Port the parser.", "Finished  Port the parser")
        assert fleet.conversations["c1"]["title"] == "Port the parser"


async def test_a_title_left_as_it_is_sends_nothing(fleet: FakeFleet, tmp_path: Path) -> None:
    async with at_conversations(fleet, tmp_path) as seat:
        await seat.press("e", "enter")
        await seat.sees("It is called Talk 3.")
        assert fleet.orders == []


# Delete


@pytest.mark.parametrize("nested", [True, False])
async def test_a_conversation_is_deleted_once_its_short_id_was_typed(
    fleet: FakeFleet, tmp_path: Path, nested: bool
) -> None:
    fleet.nested, fleet.changes_conversations = nested, not nested
    async with at_conversations(fleet, tmp_path) as seat:
        await seat.press("D")
        await seat.sees("Delete conversation c3?", "Talk 3", "Type c3 to go on")
        await seat.type("c3")
        await seat.press("enter")
        await seat.until(lambda: "c3" not in fleet.conversations)
        await seat.sees("Delete of c3 asked for")


async def test_several_are_deleted_after_a_plan_and_each_ends_with_the_truth(fleet: FakeFleet, tmp_path: Path) -> None:
    fleet.fails = {"c1"}
    async with at_conversations(fleet, tmp_path) as seat:
        await seat.press("asterisk", "D")
        await seat.sees("Delete 4 conversations?", "4 will be deleted", "Talk 0", "Their sandboxes go too", "Type 4")
        await seat.press("1", "enter")
        await seat.sees("Nothing was done.")
        await seat.press("backspace", "4", "enter")
        await seat.sees("CONVERSATION", "3 done", "1 failed", "status 400")
        assert seat.session.job is not None
        states = {row.id: row.state for row in seat.session.job.rows.values()}
        assert states == {**dict.fromkeys(("c0", "c2", "c3"), RowState.DONE), "c1": RowState.FAILED}
        assert set(fleet.conversations) == {"c1"}
        fleet.fails.clear()
        await seat.press("R")
        await seat.sees("4 done")
        await seat.press("f")
        await seat.until(lambda: (tmp_path / "copied.txt").exists())
        assert (tmp_path / "copied.txt").read_text().startswith("4 conversations: 4 done")


# The trajectory


@pytest.mark.parametrize("size", [(60, 20), NARROW])
async def test_a_trajectory_is_written_where_it_was_asked_for_and_nobody_else_may_read_it(
    fleet: FakeFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_conversations(fleet, tmp_path, size=size, endpoint=Connection("p", PROD.url, read_only=True)) as seat:
        seat.list_screen.table.move_to("c1")
        await seat.press("E")
        await seat.sees("Trajectory of Talk 1", "trajectory-c1.zip")
        await seat.press("enter")
        await seat.sees("Written to trajectory-c1.zip: 4 kB")
    written = tmp_path / "trajectory-c1.zip"
    assert written.read_bytes() == ZIP
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


async def test_a_file_that_is_there_goes_only_when_somebody_says_so(
    fleet: FakeFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trajectory-c1.zip").write_text("precious")
    async with at_conversations(fleet, tmp_path) as seat:
        seat.list_screen.table.move_to("c1")
        await seat.press("E")
        await seat.sees("Trajectory of Talk 1")
        await seat.press("enter")
        await seat.sees("Write over the file?")
        await seat.press("enter")
        await seat.sees("Trajectory of Talk 1")
        assert (tmp_path / "trajectory-c1.zip").read_text() == "precious"
        await seat.press("enter")
        await seat.sees("Write over the file?")
        await seat.press("y")
        await seat.sees("Written to trajectory-c1.zip")
        assert (tmp_path / "trajectory-c1.zip").read_bytes() == ZIP


# Where it cannot be done


@pytest.mark.parametrize(
    ("nested", "key", "typed", "words"),
    [
        (False, "e", "x", "This server cannot rename conversations."),
        (True, "e", "x", "This server cannot rename conversations."),
        (False, "D", "c3", "This server cannot delete conversations."),
        (True, "E", "", "This server gives no trajectories. A newer release may offer it."),
    ],
)
async def test_what_a_server_lacks_is_found_out_and_the_key_says_so_from_then_on(
    fleet: FakeFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nested: bool, key: str, typed: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    fleet.nested, fleet.deaf = nested, {"c3"}
    async with at_conversations(fleet, tmp_path) as seat:
        await seat.press(key)
        await seat.until(lambda: seat.deck.screen.is_modal)
        await seat.type(typed)
        await seat.press("enter")
        await seat.sees(words)
        await seat.press("escape")
        await seat.until(lambda: not seat.deck.screen.is_modal)
        await seat.press(key)
        await seat.sees(words.partition(".")[0])
        assert not seat.deck.screen.is_modal
    assert len(fleet.conversations) == 4
    assert list(tmp_path.glob("*.zip")) == []


@pytest.mark.parametrize(("key", "words"), [("e", "Rename: this connection"), ("D", "Delete: this connection")])
async def test_on_a_read_only_connection_the_keys_say_why_not(
    fleet: FakeFleet, tmp_path: Path, key: str, words: str
) -> None:
    async with at_conversations(fleet, tmp_path, endpoint=Connection("prod", PROD.url, read_only=True)) as seat:
        await seat.press(key)
        await seat.sees(f"{words} is read-only")


@pytest.mark.parametrize(
    ("status", "words"),
    [("RUNNING", "Its sandbox has not been read yet"), ("MISSING", "Its sandbox is not there"), (None, "is not there")],
)
async def test_a_sandbox_that_is_not_listed_is_called_gone_only_where_the_server_does_not_tell_of_it(
    fleet: FakeFleet, tmp_path: Path, status: str | None, words: str
) -> None:
    fleet.conversations.clear()
    fleet.talk("alone", "elsewhere", "Alone", sandbox_status=status)
    async with at_conversations(fleet, tmp_path) as seat:
        await seat.sees("Alone")
        for key in ("p", "o"):
            await seat.press(key)
            await seat.sees(words)
            assert fleet.orders == []
