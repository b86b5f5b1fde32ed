"""Taking back the last save: noted without secrets, shown as a review, sent like every other save."""

from pathlib import Path

import pytest

from quarterdeck.config.connections import Connection
from tests.servers import Mode
from tests.tui_settings.conftest import FULL, Sit
from tests.tui_settings.form import FormSeat


def journal(folder: Path) -> str:
    return "".join(file.read_text() for file in (folder / "state" / "journal").glob("*.json"))


@pytest.mark.parametrize("store", ["replace", "nested"])
async def test_a_save_is_taken_back_and_that_is_taken_back_too(sit: Sit, store: Mode) -> None:
    async with sit(stored=FULL, store=store) as seat:
        before = await seat.stored()
        await seat.edit("git_user_name", "Grace")
        await seat.edit("max_iterations", "77")
        await seat.save_verified(2)
        saved = await seat.stored()
        await seat.choose("Undo save")
        await seat.sees("This takes back the save of", "Grace → Ada Lovelace", "77 → 200")
        if store == "replace":
            await seat.sees("y save and lose it", "esc go back")
            await seat.press("enter", sees="y saves all the same, esc goes back")
        await seat.agree(sees=("Saved · 2 of 2 verified", "As stored"))
        assert await seat.stored() == before
    async with sit(store=store) as seat:
        await seat.choose("Undo save", sees="Ada Lovelace → Grace")
        await seat.agree(sees=("Saved · 2 of 2 verified", "As stored"))
        assert await seat.stored() == saved
        await seat.edit("git_user_name", "Ann")
        await seat.until(lambda: "verified" not in seat.text)
        await seat.choose("Undo save", sees="Save or drop your edits first")


async def test_secrets_are_not_in_the_journal_and_what_is_not_taken_back_is_named(
    seat: FormSeat, tmp_path: Path
) -> None:
    await seat.edit("llm_api_key", "sentinel-other")
    await seat.edit("git_user_name", "Grace")
    await seat.edit("language", "French")
    await seat.save(sees="Saved · 2 verified, 1 accepted")
    assert "fr" in journal(tmp_path)
    assert "sentinel" not in journal(tmp_path)
    await seat.client.settings.store(await seat.stored(), {"git_user_name": "Ann"})
    await seat.choose("Undo save")
    await seat.sees("Cannot be brought back", "API key", "Changed again since, and left alone: Author name.")
    await seat.sees("fr · French → en · English")
    await seat.press("escape", sees=("Not undone; all is as it was.", "As stored"))
    assert not seat.form.draft.edited


async def test_a_deleted_server_comes_back_as_an_edit_with_its_secrets_to_be_typed(
    seat: FormSeat, tmp_path: Path
) -> None:
    await seat.go_to("mcp:2", "d", "ctrl+s", sees=("deleted", "An undo brings it back without secrets."))
    await seat.agree(sees="Saved · 1 of 1 verified")
    assert "@acme/db" in journal(tmp_path)
    assert "sentinel" not in journal(tmp_path)
    await seat.choose("Undo save")
    await seat.sees("The last save, taken back as edits", "Type what is missing")
    await seat.press("escape", sees=("1 edited · 1 error", "Type the hidden part again"))
    assert seat.posts == 1


async def test_when_nothing_can_be_taken_back_one_line_says_so(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.press("f2", sees="No save from here is noted")
        await seat.press("escape")
        assert seat.posts == 0
        await seat.go_to("llm_api_key", "x")
        await seat.save_verified(1)
        await seat.choose("Undo save", sees=("Nothing of the last save can be undone", "It is the save of", "API key"))
        assert "takes back" not in seat.text
    async with sit(endpoint=Connection("local service", read_only=True)) as seat:
        await seat.choose("Undo save", sees="read-only")
