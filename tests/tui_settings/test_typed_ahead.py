"""Keys that come all at once in the settings: letters go into the field that the key before them opened."""

from pathlib import Path

from quarterdeck.config.connections import Connection
from quarterdeck.tui.screens.settings import SettingsScreen
from tests.client.fakes import Gated, to
from tests.settings.flat_server import FlatServer
from tests.tui.seat import answering, local, seated
from tests.tui_settings.form import FormSeat


async def test_fields_are_edited_pasted_into_and_reviewed_by_one_burst_of_keys(seat: FormSeat) -> None:
    seat.at_once("slash", *"iterations", "enter", "g", "enter", "ctrl+u", *"77", "enter", "j", "j", "k")
    await seat.until(lambda: seat.form.draft.edits == {"max_iterations": 77})
    await seat.until(lambda: seat.form.editor is None)
    seat.at_once("slash", "escape", "g", "enter", *"d", "U", "x", "u", "escape")
    await seat.until(lambda: seat.form.draft.edits.get("llm_model") == "dUxu" and seat.form.editor is None)
    assert seat.form.draft.count == 2
    assert len(seat.form.draft.servers.entries) == 3
    await seat.go_to("git_user_name")
    seat.at_once("enter", "ctrl+u")
    seat.paste_at_once("Grace")
    seat.at_once("ctrl+s")
    await seat.sees("Grace", "show the request")
    await seat.press("enter", sees="Saved · 3 of 3 verified")
    assert (await seat.stored()).git_user_name == "Grace"


async def test_tab_goes_on_editing_in_the_next_field(seat: FormSeat) -> None:
    await seat.go_to("git_user_name")
    seat.at_once("enter", "ctrl+u", *"dU", "tab", "ctrl+u", *"x@d.org", "shift+tab", "escape")
    await seat.until(lambda: seat.form.draft.edits == {"git_user_name": "dU", "git_user_email": "x@d.org"})
    await seat.until(lambda: seat.form.editor is None)


async def test_the_first_visit_may_be_typed_ahead(tmp_path: Path) -> None:
    connect = local(tmp_path / "data")
    async with seated(connect) as seat:
        await seat.sees("No conversations.")
        seat.at_once("3")
        own = FormSeat(seat.deck, seat.pilot)
        await seat.until(lambda: any(isinstance(screen, SettingsScreen) for screen in seat.deck.opened))
        await own.until(lambda: own.form.draft)
        seat.at_once("enter", *"duty", "enter", "j")
        await seat.until(lambda: own.form.draft.edits == {"llm_model": "duty"})


async def test_a_filter_may_be_typed_while_the_settings_are_still_read() -> None:
    server = Gated(FlatServer(), to("/api/settings"))
    async with seated(answering(server), Connection("far", "http://far.test")) as seat:
        own = await FormSeat.at(seat, loaded=False)
        await own.until(lambda: server.waited)
        own.at_once("slash", *"ask", "enter", "x")
        await own.sees("/ ask", "Not set: the settings are not loaded.")
        own.at_once("slash", *"ask before")
        await own.sees("/ ask before", "enter keep it")
        server.gate.set()
        await own.sees("Ask before actions")
        await own.press("!", sees="/ ask before!")
        await own.press("backspace", "enter", sees="Ask before actions")
        assert own.form.row.id == "confirmation_mode"
        assert not own.form.draft.edited


async def test_quitting_behind_an_edit_asks_about_it(seat: FormSeat) -> None:
    await seat.go_to("git_user_name")
    seat.at_once("enter", *"dskd", "ctrl+q", "k")
    await seat.until(lambda: seat.form.draft.edited and not seat.deck.screen.is_modal)
    assert seat.deck.return_value is None
    seat.at_once("ctrl+q", "d")
    await seat.until(lambda: seat.deck.return_value == 0)
