"""What the form says of its rows: chips, groups with their counts, the menu of a row."""

from tests.client.fakes import NO_ROUTE, Answer, Asked, FakeServer
from tests.tui.seat import WIDE
from tests.tui_settings.conftest import FULL, Sit
from tests.tui_settings.form import FormSeat


def line_of(seat: FormSeat, words: str) -> str:
    return next(line for line in seat.text.splitlines() if words in line)


async def test_what_somebody_else_saved_is_marked_until_it_was_looked_at(sit: Sit) -> None:
    async with sit(stored=FULL, size=WIDE) as seat:
        before = await seat.stored()
        assert before.mcp_config is not None
        (events,) = before.mcp_config.sse_servers
        moved = before.mcp_config.model_copy(update={"sse_servers": (events.model_copy(update={"api_key": None}),)})
        await seat.client.settings.store(before, {"max_iterations": 77, "mcp_config": moved})
        await seat.press("ctrl+r")
        await seat.sees("77")
        assert "changed on server" in line_of(seat, "Max iterations")
        await seat.go_to("mcp:1")
        await seat.sees("https://event")
        assert "changed on server" in line_of(seat, "https://event")
        assert "changed on server" not in line_of(seat, "https://tools.")
        await seat.go_to("max_iterations")
        await seat.sees("Someone else changed", "changed on server")
        await seat.press("down")
        assert "changed on server" not in line_of(seat, "Max iterations")


async def test_what_both_changed_is_marked_too(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.edit("max_iterations", "77")
        await seat.client.settings.store(await seat.stored(), {"max_iterations": 88})
        await seat.press("ctrl+r")
        await seat.sees("Somebody saved fields you edited")
        assert "changed on server" in line_of(seat, "Max iterations")
        assert seat.form.draft.changes == {"max_iterations": 77}


def flat(asked: Asked) -> Answer:
    """A flat server of the real kind, without lists beside its settings."""
    return Answer({"llm_model": "a/b", "max_iterations": 50}) if asked.path == "/api/settings" else NO_ROUTE


async def test_fields_that_conversations_do_not_go_by_say_so(sit_before: Sit) -> None:
    async with sit_before(FakeServer(flat)) as seat:
        await seat.go_to("max_iterations")
        assert "V0 only" in line_of(seat, "Max iterations")
        assert "server default · V0 only" in line_of(seat, "Budget per task")
        assert "V0 only" not in line_of(seat, "Base URL")
        await seat.press("enter")
        await seat.type("60")
        await seat.press("enter")
        assert "edited · V0 only" in line_of(seat, "Max iterations")
        await seat.go_to("language")
        assert "web only" in line_of(seat, "Language")


async def test_the_groups_stand_beside_the_fields_or_in_one_line_above(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.edit("language", "French")
        await seat.fill("max_iterations", "-1")
        await seat.press("escape")
        assert "*1 !1" in line_of(seat, " Agent  ")
        assert "*1" in line_of(seat, "Interface")
        await seat.pilot.resize_terminal(60, 20)
        await seat.until(lambda: "▌Agent *1 !1  Sandbox" in seat.text)
        await seat.press("tab")
        await seat.until(lambda: "▌Sandbox  MCP servers" in seat.text)
        groups = next(at for at, line in enumerate(seat.text.splitlines()) if "▌Sandbox" in line)
        await seat.pilot.click(offset=(12, groups))
        assert seat.form.row.group == "MCP servers"


async def test_the_menu_of_a_row_has_what_can_be_done_with_it(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("secret:")
        await seat.press("f2")
        await seat.sees("New value", "Add")
        assert "Drop the edit" not in seat.text
        await seat.press("escape")
        await seat.go_to("git_user_name")
        for key in ("f2", "ctrl+o"):
            await seat.press(key)
            await seat.sees("Revert", "Not set", "Copy key name", "Nothing is edited here.")
            await seat.press("u")
            await seat.sees("Copy key name", "Nothing is edited here.")
            await seat.press("escape")
        await seat.press("f2", "y")
        assert seat.deck.clipboard == "git_user_name"
        await seat.press("f2", "x")
        await seat.sees("1 edited")
        await seat.press("f2", "u")
        await seat.sees("As stored")
        await seat.go_to("mcp:0")
        await seat.press("f2")
        await seat.sees("Disable", "Check", "Copy as new", "Delete")
        await seat.press("D")
        await seat.sees("1 edited", "will be deleted")
