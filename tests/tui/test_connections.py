"""The list of connections by keys: seen, switched, checked, and what the command line and the file say of them."""

import pytest

from quarterdeck import __version__
from quarterdeck.cli.target import KEY_VARIABLE
from quarterdeck.config.connections import Connection
from tests.cli import serving
from tests.tui.desk import NOBODY, OTHER_KEY, Desk, at_list
from tests.tui.fake_fleet import PROD, FakeFleet
from tests.tui.seat import NARROW, WIDE, answering, seated


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
async def test_the_list_says_how_each_is_doing_and_where_its_key_is(desk: Desk, size: tuple[int, int]) -> None:
    async with desk.sit(size=size) as seat:
        await seat.sees("live now")
        await at_list(seat, sees="the local service's own")
        [local], [one], [two] = (
            [line for line in seat.text.splitlines() if words in line]
            for words in ("inside this deck", desk.one, desk.two)
        )
        assert "live" in local
        assert "not opened" in one
        assert "not opened" in two
        assert "read-only" in two
        assert "read-only" not in one
        assert "■ one" in one
        assert f"{desk.one}   not opened" in one  # close to the address also where there is room for a longer one
        await seat.press("down", sees=("environment variable ONE_KEY", "X-Session-API-Key"))
        await seat.press("j", sees=("key        none", "nothing is changed on the server"))
        await seat.press("escape", sees=("No conversations.", "no agent runs in the local service"))


@pytest.mark.usefixtures("no_colour")
async def test_without_colour_only_the_chosen_one_has_a_sign_and_stands_in_reverse_video(desk: Desk) -> None:
    async with desk.sit() as seat:
        await seat.press("T", sees="There are no colours to switch: NO_COLOR is set.")
        await seat.press("z", sees="z does nothing here; ? shows the keys.")
        await at_list(seat, "down", "down", sees="read-only")
        assert "■" not in seat.text
        strips = seat.deck.screen._compositor.render_strips()
        (chosen,) = (strip.text for strip in strips if any(piece.style and piece.style.reverse for piece in strip))
        assert " two " in chosen


async def test_where_there_is_no_room_for_an_address_it_stands_below_the_list(desk: Desk) -> None:
    async with desk.sit(size=(60, 20)) as seat:
        await at_list(seat, sees=f"{desk.one[-14:]} not opened")
        assert desk.one not in seat.text
        await seat.press("down", sees=f"address    {desk.one}")
        await seat.press("up", until=lambda: desk.one not in seat.text)


async def test_switching_shows_name_and_release_and_is_remembered(desk: Desk) -> None:
    async with desk.sit(size=WIDE) as seat:
        await seat.press("3", sees="Nothing stored yet")
        await seat.press("u", sees="Nothing is edited here.")
        await at_list(seat, "down", "enter", sees=(" one ", "Nothing stored yet"))
        assert "Nothing is edited here." not in seat.text
        await seat.press("1", sees=("No conversations.", "live now"))
        assert "READ-ONLY" not in seat.text
        await seat.press("2", sees=("[2 Sandboxes]", " one "))
        await at_list(seat, sees=("environment variable ONE_KEY", f"release    {__version__}"))
        await seat.press("k", "enter", sees=("local service", "No sandboxes."))
    assert desk.remembered == "local"


async def test_where_a_conversation_is_created_a_simulation_says_that_it_is_one(desk: Desk) -> None:
    desk.environ["SIMULATED_KEY"] = serving.KEY
    with serving.answering(serving.simulating(3)) as url:
        async with desk.sit(Connection("simulated", url, key_env="SIMULATED_KEY")) as seat:
            await seat.sees("live now")
            await seat.until(lambda: seat.session.server.kind)
            await seat.press("n", sees="This is a simulation: its agents only play.")


async def test_a_check_says_what_answers_and_whether_the_key_is_right_and_opens_nothing(desk: Desk) -> None:
    async with desk.sit() as seat:
        await seat.sees("live now")
        await at_list(seat, "down", "t", sees="local service, flat settings; the key is accepted")
        await seat.press("down", "t", sees="the key is missing")
        await seat.press("up", "up", "t", sees="the key is accepted")
        await seat.press("escape", sees=("local service", "live"))
    assert desk.remembered == "local"


async def test_a_server_given_by_its_address_is_never_remembered_until_it_has_a_name(desk: Desk) -> None:
    desk.environ[KEY_VARIABLE] = OTHER_KEY
    connection = Connection(desk.two.removeprefix("http://"), desk.two, key_env=KEY_VARIABLE)
    async with desk.sit(connection) as seat:
        await seat.sees("No conversations.")
        await at_list(seat, sees=("it was given by its address", f"environment variable {KEY_VARIABLE}"))
        await seat.press("d", sees="it is written in no file")
        assert desk.remembered is None
        await seat.press("e", sees=("New connection", connection.name.replace(":", "-")))
        await seat.retype("named", "ctrl+s", sees=("Connections", "named"))
        await seat.press("escape", sees=("named", "No conversations."))
    assert f'[connections.named]\nurl = "{desk.two}"\nkey_env = "{KEY_VARIABLE}"\n' in desk.file.read_text()
    assert desk.remembered == "named"


async def test_a_run_that_is_read_only_stays_so_on_every_connection(desk: Desk) -> None:
    async with desk.sit(read_only=True) as seat:
        await seat.sees("READ-ONLY", "live now")
        await at_list(seat, "down", "enter", sees=(" one ", "READ-ONLY", "No conversations."))
        await seat.press("n", sees="this connection is read-only")
        await at_list(seat, "e", sees=("Connection one", "Read-only         (•) no"))
        await seat.press("escape")
    assert "true" in desk.file.read_text().partition("[connections.two]")[2]
    assert "read_only" not in desk.file.read_text().partition("[connections.two]")[0]


async def test_a_broken_file_is_told_in_the_deck_and_never_written_over(desk: Desk) -> None:
    broken = f'[connections.one]\nurl = "{desk.one}"\nbroken broken\n'
    desk.write(broken)
    async with desk.sit(size=(160, 40)) as seat:
        await seat.sees("connections.toml, line 3: not TOML")
        await seat.press("c", sees=("Connections", "not TOML (Expected"))
        await seat.press("a", sees="New connection")
        await seat.type("three", "tab")
        await seat.type(desk.one, "enter", sees=("Connections", "nothing was written"))
    assert desk.file.read_text() == broken


@pytest.mark.parametrize("given", ["by its address", "by its name"])
async def test_what_another_deck_writes_of_the_open_one_makes_no_second_equal_row(desk: Desk, given: str) -> None:
    before = desk.file.read_text()
    desk.write(f'{before}\n[connections.agents]\nurl = "{NOBODY}"\n')
    kept = desk.connection("agents")
    if given == "by its address":
        desk.write(before)
    async with desk.sit(kept if given == "by its name" else Connection("agents", NOBODY), size=WIDE) as seat:
        desk.write(f'{before}\n[connections.agents]\nurl = "{NOBODY}"\nread_only = true\n')
        await at_list(seat, sees=("agents", "changed in connections.toml since it was opened"))
        assert seat.text.count(NOBODY) == 1
        assert "nothing is changed on the server" not in seat.text
        await seat.press("escape")
        desk.write(f'{before}\n[connections.agents]\nurl = "{NOBODY}9"\n')
        await at_list(seat, sees=(f"{NOBODY} ", f"{NOBODY}9 "))
        if given == "by its name":
            await seat.sees("changed in connections.toml since it was opened")


async def test_a_check_says_that_the_key_went_in_clear() -> None:
    fleet = FakeFleet(nested=True)
    async with seated(answering(fleet.server), PROD) as seat:
        await seat.sees("No conversations.")
        await seat.press("c", sees=("Connections", "the key can be read on the way"))
        await seat.press("t", sees="no key is needed")
        await seat.press("K")
        await seat.type("sentinel", "enter", until=lambda: not seat.deck.screen.is_modal)
        await seat.press("c", "t", sees=("the key is accepted, and was", "sent unencrypted"))


async def test_a_refused_key_is_said_below_the_list_in_a_line_that_fits(desk: Desk) -> None:
    desk.environ[KEY_VARIABLE] = "wrong"
    async with desk.sit(Connection("address", desk.two, key_env=KEY_VARIABLE), size=(60, 20)) as seat:
        await seat.sees("Connections", "K: enter it.")
        await seat.press("escape", sees=" A valid key is needed: c, then K gives one.")


async def test_however_much_is_wrong_in_the_file_the_line_of_the_cursor_is_in_sight(desk: Desk) -> None:
    wrong = "".join(f'[connections.more{each}]\nurl = "{NOBODY}"\ncolour = "rainbow"\n' for each in range(6))
    desk.write(wrong)
    async with desk.sit(size=(60, 20)) as seat:
        await seat.press("c", sees=("local service", "Remarks on the file: 6; `quarterdeck doctor` says all."))
        for each in range(6):
            await seat.press("j", sees=(f"more{each}  ", "file       colour is one of"))
        await seat.press("t", sees="check      ")
        await seat.press("g", sees="inside this deck")
