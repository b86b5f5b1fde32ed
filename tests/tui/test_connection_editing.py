"""Connections added, edited and deleted by keys, on two real servers; keys typed, proven and kept."""

import asyncio
import logging
import re

import pytest
from keyring.errors import KeyringLocked

from tests.conftest import Home
from tests.keyrings import Hanging, Raising
from tests.tui.desk import KEY, NOBODY, OTHER_KEY, Desk, at_list
from tests.tui.seat import WIDE, Seat, Words

# Adding and keys


async def add(seat: Seat, name: str, address: str, *, sees: Words) -> None:
    """Fill in a new connection and save it; its key is asked for next."""
    await at_list(seat, "a", sees="New connection")
    await seat.type(name, "tab")
    await seat.type(address, "enter", sees=sees)


async def test_a_connection_is_added_and_its_key_is_kept_once_it_is_proven_and_shown_nowhere(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    before = desk.file.read_text()
    async with desk.sit() as seat:
        await add(seat, "three", desk.two, sees=("Key of three", f"It is sent to {desk.two} and nowhere else."))
        await seat.type("wrong", "enter", sees="The server refused this key.")
        assert desk.keyring.held == {}
        await seat.type(OTHER_KEY)
        pictures = [seat.deck.export_screenshot(), repr(seat.deck.screen), repr(seat.deck.focused)]
        await seat.press("enter")
        await seat.sees("Connections", "It is kept in the system keyring.", "key        system keyring")
        await seat.press("enter", sees=("three", "No conversations."))
        await seat.press("L")
        await seat.sees("Requests, newest first", "GET", "/api/v1/app-conversations/search", "200")
        pictures += [
            seat.deck.export_screenshot(),
            repr(vars(seat.deck.connecting.connections.keys)),
            repr(vars(seat.deck)),
        ]
    assert desk.keyring.held == {("quarterdeck", f"three {desk.two}"): OTHER_KEY}
    assert desk.file.read_text() == before + f'\n[connections.three]\nurl = "{desk.two}"\n'
    assert desk.remembered == "three"
    for picture in (*pictures, caplog.text):
        assert OTHER_KEY not in picture
        assert KEY not in picture.replace(repr(desk.environ), "")


async def test_what_cannot_be_a_connection_is_said_in_the_form(desk: Desk) -> None:
    before = desk.file.read_text()
    async with desk.sit() as seat:
        await add(seat, "one", desk.one, sees="There is a connection called one already.")
        await seat.press("tab", "tab", "enter", sees="■ orange")
        assert not re.search("(Read-only|CA file|Key).*■", seat.text)
        await seat.press("escape", "shift+tab", "shift+tab")
        await seat.retype("four", "tab")
        await seat.retype("ftp:", "ctrl+s", sees=("needs http:// or https://", "^s save", "New connection"))
        desk.file.write_text(f"{before}]")
        await seat.retype(desk.one, "ctrl+s", sees=("not TOML", "nothing was written.", "New connection", "four"))
        await seat.press("escape", "escape", sees="Connections")
    assert desk.file.read_text() == f"{before}]"


async def give_key(seat: Seat, name: str, key: str, *, sees: Words = ()) -> None:
    await seat.press("K", sees=f"Key of {name}")
    await seat.type(key, "enter", sees=sees)


async def test_without_a_keyring_a_file_is_used_only_after_a_yes(desk: Desk, home: Home) -> None:
    desk.keyring = Raising(KeyringLocked())
    file = home.config / "keys.toml"
    async with desk.sit() as seat:
        await at_list(seat, "down", "down")
        await give_key(seat, "two", OTHER_KEY)
        await seat.sees("Keep the key in a file?", "The system keyring did not keep the key.")
        await seat.press("enter", sees=("used until the deck ends", "typed for this run"))
        assert not file.exists()
        await give_key(seat, "two", OTHER_KEY, sees="Keep the key in a file?")
        await seat.press("y", sees=("It is kept in", "keys.toml", "key        key file"))
        assert OTHER_KEY not in seat.text
    assert f'[keys.two]\norigin = "{desk.two}"\nkey = "{OTHER_KEY}"\n' in file.read_text()
    async with desk.sit() as seat:
        await at_list(seat, "down", "down", sees="key        key file")
        file.chmod(0o644)
        await seat.press("t", sees=("the key is missing", "key        none", "chmod"))
        file.write_text("")
        await give_key(seat, "two", OTHER_KEY, sees="Keep the key in a file?")
        await seat.press("y", sees="key        typed for this run")
    assert file.read_text() == ""


async def test_a_key_that_cannot_be_verified_is_used_for_this_run_only(desk: Desk) -> None:
    desk.write(f'[connections.one]\nurl = "{NOBODY}"\n[connections.two]\nurl = "{NOBODY}"\n')
    async with desk.sit() as seat:
        await at_list(seat, "down")
        await give_key(seat, "one", KEY)
        await seat.sees(
            "The key of one is used until", "Cannot connect to 127.0.0.1:9", "key        typed for this run"
        )
    assert desk.keyring.held == {}


async def test_while_a_key_is_tried_escape_goes_back_and_the_key_is_not_used(desk: Desk) -> None:
    silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1")
    host, port = silent.sockets[0].getsockname()
    desk.write(f'[connections.one]\nurl = "http://{host}:{port}"\n[connections.two]\nurl = "{NOBODY}"\n')
    async with silent, desk.sit() as seat:
        await at_list(seat, "down")
        await give_key(seat, "one", KEY)
        await seat.sees("Asking the server", "esc back")
        await seat.press("escape", sees=("esc close", "key        none"))


async def test_a_refused_key_opens_the_list_there_and_the_next_one_is_used(desk: Desk) -> None:
    async with desk.sit(desk.connection("two")) as seat:
        await seat.sees("Connections", "The key is missing or not the right one. K: enter it.", "key needed")
        await seat.press("c", "enter")  # the c of one who did not see yet that the list is there
        await seat.sees("Key of two")
        await seat.type(OTHER_KEY, "tab", "space", "shift+tab", "enter")
        await seat.sees("used until the deck ends, and kept nowhere", "READ-ONLY", "No conversations.")
        await at_list(seat, sees=("typed for this run", "live"))
        await seat.press("up", "enter", sees=(" one ", "No conversations."))
        await at_list(seat, "down", "enter", sees=("two", "READ-ONLY", "No conversations."))
    assert desk.keyring.held == {}
    assert desk.remembered == "two"


async def test_nothing_opens_over_a_list_that_is_about_to_close(desk: Desk) -> None:
    hanging = Hanging()
    hanging.go_on.set()
    desk.keyring, desk.patience = hanging, 60
    try:
        async with desk.sit(desk.connection("two")) as seat:
            await seat.sees("Connections", "key needed", "key        none")
            hanging.go_on.clear()
            await give_key(seat, "two", OTHER_KEY)
            await seat.until(lambda: hanging.held)
            await seat.press("a", sees="The last change is still under way")
            hanging.go_on.set()
            await seat.sees("It is kept in the system keyring", "READ-ONLY", "No conversations.")
            await seat.until(lambda: not seat.deck.screen.is_modal)
    finally:
        hanging.go_on.set()


# Editing


async def test_an_edit_changes_the_open_connection_and_its_key_goes_along(desk: Desk) -> None:
    desk.keyring.held["quarterdeck", f"two {desk.two}"] = OTHER_KEY
    async with desk.sit(desk.connection("two"), size=WIDE) as seat:
        await seat.sees("two", "READ-ONLY", "No conversations.")
        await at_list(seat, "e", sees=("Connection two", "as it is"))
        await seat.retype("second", "tab", "tab", "tab", "tab", "space", "ctrl+s")
        await seat.sees("Connections", "second", "system keyring")
        await seat.press("escape", sees=("second", "No conversations.", "live now"))
        assert "READ-ONLY" not in seat.text
    assert desk.keyring.held == {("quarterdeck", f"second {desk.two}"): OTHER_KEY}
    assert desk.file.read_text().endswith(f'# careful with this one\n[connections.second]\nurl = "{desk.two}"\n')
    assert desk.remembered == "second"


@pytest.mark.parametrize("answer", ["y", "n"])
async def test_a_kept_key_follows_to_another_address_only_after_a_yes(desk: Desk, answer: str) -> None:
    desk.keyring.held["quarterdeck", f"two {desk.one}"] = KEY
    desk.write(desk.file.read_text().replace(desk.two, desk.one))
    async with desk.sit() as seat:
        await at_list(seat, "down", "down", "e", sees="Connection two")
        await seat.press("tab")
        await seat.retype(desk.two, "ctrl+s")
        await seat.press("escape", sees="Nothing is saved yet.")
        assert desk.two not in desk.file.read_text()
        await seat.press("ctrl+s")
        await seat.sees(
            "The address has changed",
            desk.one,
            f"Send it to {desk.two} from now on?",
            "n leaves it where it is (system keyring)",
        )
        await seat.press(answer)
        await seat.sees("Connections", "key        system keyring" if answer == "y" else "is not used for")
        await seat.press("up", until=lambda: "is not used for" not in seat.text)
        await seat.press("e", sees="Connection one")
        seat.at_once("tab", "tab", "enter", "down", "enter", "ctrl+s")
        await seat.until(lambda: 'colour = "blue"' in desk.file.read_text())
    [(_, user)] = desk.keyring.held
    assert user == (f"two {desk.two}" if answer == "y" else f"two {desk.one}")
    assert desk.file.read_text().count(desk.two) == 1


async def test_a_key_that_stays_with_an_old_address_goes_along_with_the_name_and_is_deleted_with_it(
    desk: Desk, home: Home
) -> None:
    desk.keyring = Raising(KeyringLocked())
    file = home.config / "keys.toml"
    file.touch(mode=0o600)
    file.write_text(f'[keys.two]\norigin = "{desk.two}"\nkey = "{OTHER_KEY}"\n')
    async with desk.sit() as seat:
        await at_list(seat, "down", "down", sees="key        key file")
        await seat.press("e", "tab", sees="Connection two")
        await seat.retype(desk.one, "ctrl+s", sees="The address has changed")
        await seat.press("n", sees="is not used for")
        await seat.press("e", sees="Connection two")
        await seat.retype("second", "ctrl+s", sees=("second", "the key file has one for"))
        await seat.press("d", sees="and so is the key kept for it")
        await seat.press("y", sees="second: if the system keyring has its key, that stays there")
        await seat.until(lambda: "key file has one" not in seat.text)
    assert file.read_text() == ""


async def test_a_connection_is_deleted_with_its_key_but_neither_the_open_nor_the_local_one(desk: Desk) -> None:
    desk.keyring.held["quarterdeck", f"two {desk.two}"] = OTHER_KEY
    async with desk.sit(desk.connection("one")) as seat:
        await seat.sees(" one ", "No conversations.")
        await at_list(seat, "d", sees="one is open: open another one before you delete it.")
        await seat.press("up")
        for key in "edK":
            await seat.press(key, sees="The local service is part of the deck")
        await seat.press(
            "down",
            "down",
            "d",
            sees="Delete the connection two?",
            until=lambda: "check" not in seat.deck.export_screenshot(),
        )
        await seat.press("enter", sees=("Connections", "two", "t check"))
        await seat.press("d", sees="Delete the connection two?")
        await seat.press("y", sees=("Connections", "one"), until=lambda: "two" not in seat.text)
    assert desk.keyring.held == {}
    assert desk.file.read_text().endswith('colour = "teal"\n\n# careful with this one\n')


@pytest.mark.parametrize("address", ["the same", "another"])
async def test_unsaved_edits_are_asked_about_before_a_switch_and_stay_with_a_key_for_an_edited_connection(
    desk: Desk, address: str
) -> None:
    async with desk.sit(desk.connection("one")) as seat:
        await seat.press("3", sees=("[3 Settings", "Model"))
        await seat.press("enter", *"openai/gpt", "escape", until=lambda: seat.deck.edits)
        await at_list(seat, "up", "enter", sees="keep")
        await seat.press("escape", sees="[3 Settings")
        assert seat.deck.endpoint.name == "one"
        await at_list(seat, "e", sees="Connection one")
        await seat.press("tab")
        if address == "another":
            await seat.retype(desk.two)
        await seat.press(*["tab"] * 5, "enter", "down", "enter", "ctrl+s", sees="Key of one")
        await seat.type(KEY if address == "the same" else OTHER_KEY)
        await seat.press("tab", "space", "shift+tab", "enter")
        if address == "another":
            await seat.sees("[3 Settings", "keep")
            await seat.press("escape")
        await seat.sees("used until the deck ends, and kept nowhere")
        await seat.until(lambda: seat.deck.edits)
        await at_list(seat, *(("up", "up") if address == "another" else ()))
        await seat.sees("typed for this run")
