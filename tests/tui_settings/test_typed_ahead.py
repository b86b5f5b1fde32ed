"""Keys that come all at once in the settings: letters go into the field that the key before them opened."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from random import Random

import pytest
from textual.widgets import Input, TextArea

from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.screens.settings import SettingsScreen
from tests.tui.seat import LOCAL, Seat, local, seated, stand_alike
from tests.tui_settings.conftest import FULL, Sit
from tests.tui_settings.form import FormSeat


async def test_a_field_is_edited_by_one_burst_of_keys(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        seat.at_once("slash", *"iterations", "enter", "g", "enter", "ctrl+u", *"77", "enter", "j", "j", "k")
        await seat.until(lambda: seat.form.draft.edits == {"max_iterations": 77})
        await seat.until(lambda: seat.form.editor is None)
        seat.at_once("slash", "escape", "g", "enter", *"d", "U", "x", "u", "escape")
        await seat.until(lambda: seat.form.draft.edits.get("llm_model") == "dUxu" and seat.form.editor is None)
        assert seat.form.draft.count == 2
        assert len(seat.form.draft.servers.entries) == 3


async def test_the_first_visit_may_be_typed_ahead(tmp_path: Path) -> None:
    connect = local(tmp_path / "data")
    async with seated(connect, crashes=tmp_path) as seat:
        await seat.sees("No conversations.")
        seat.at_once("3")
        own = FormSeat(seat.deck, seat.pilot)
        await seat.until(lambda: any(isinstance(screen, SettingsScreen) for screen in seat.deck.opened))
        await own.until(lambda: own.form.draft)
        seat.at_once("enter", *"duty", "enter", "j")
        await seat.until(lambda: own.form.draft.edits == {"llm_model": "duty"})


async def test_a_paste_goes_into_the_field_that_was_just_opened(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("git_user_name")
        seat.at_once("enter", "ctrl+u")
        seat.paste_at_once("Grace Hopper")
        seat.at_once("enter", "d", "d")
        await seat.until(lambda: seat.form.draft.edits == {"git_user_name": "Grace Hopper"})


async def test_an_edit_is_reviewed_and_saved_by_one_burst_of_keys(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("git_user_name")
        seat.at_once("enter", "ctrl+u", *"Grace", "ctrl+s")
        await seat.sees("Grace", "show the request")
        await seat.press("enter")
        await seat.sees("Saved · 1 of 1 verified")
        assert (await seat.stored()).git_user_name == "Grace"


async def test_quitting_behind_an_edit_asks_about_it(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("git_user_name")
        seat.at_once("enter", *"dskd", "ctrl+q", "k")
        await seat.until(lambda: seat.form.draft.edited and not seat.deck.screen.is_modal)
        assert seat.deck.return_value is None
        seat.at_once("ctrl+q", "d")
        await seat.until(lambda: seat.deck.return_value == 0)


async def test_a_variable_typed_at_once_falls_into_name_and_hidden_value(sit: Sit) -> None:
    async with sit() as seat:
        seat.at_once("a", "enter", *"mine", "tab", *"uvx", "tab", "tab", *"KEY=sesame")
        await seat.until(lambda: any(field.value == "sesame" for field in seat.deck.screen.query(Input)))
        (value,) = (field for field in seat.deck.screen.query(Input) if field.value == "sesame")
        assert value.password
        assert "KEY" in seat.text
        assert "sesame" not in seat.text


# Any keys

KEYS = (
    *"jjkkgGuxaadevcoFiyf", "space", "enter", "enter", "enter", "enter", "escape", "escape", "slash", "tab",
    "shift+tab", "up", "down", "left", "right", "backspace", "ctrl+u", "ctrl+z", "ctrl+y", "f2", "ctrl+o", *"1237Zm",
)  # fmt: skip
AT_ONCE = 12
BURSTS = 8


def stands(seat: FormSeat) -> tuple[object, ...]:
    """What the next key would find, and what those before it have done."""
    deck, form, focused = seat.deck, seat.form, seat.deck.focused
    return (
        [type(screen).__name__ for screen in deck.screen_stack],
        (type(focused).__name__, focused.id) if focused is not None else None,
        [field.value for field in deck.screen.query(Input)],
        [area.text for area in deck.screen.query(TextArea)],
        type(form.editor).__name__,
        form.row.id,
        form.view.query,
        form.draft.edits,
    )


@pytest.mark.parametrize("seed", [3])
async def test_a_burst_of_any_keys_ends_where_the_keys_one_by_one_do(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    both = [await stored(tmp_path / name) for name in ("slow", "fast")]
    async with both[0] as one, both[1] as other:
        slow, fast = await FormSeat.at(one), await FormSeat.at(other)
        for _ in range(BURSTS):
            await stand_alike(slow, fast, chance.choices(KEYS, k=AT_ONCE), stands)


async def stored(folder: Path) -> AbstractAsyncContextManager[Seat]:
    """A deck on a service of its own that holds settings."""
    folder.mkdir()
    connect = local(folder / "data")
    async with connect(LOCAL, None) as client:
        await client.describe()
        await client.settings.store(None, FULL)
    return seated(connect, LOCAL, crashes=folder, state=KeptState(folder / "state"))
