import asyncio
import logging
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest
from keyring.errors import KeyringLocked

from quarterdeck import __version__
from quarterdeck.cli.connect import connect
from quarterdeck.cli.target import KEY_VARIABLE
from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.config.keys import Keys, SystemKeyring
from quarterdeck.config.load import load
from quarterdeck.tui.app import Deck
from quarterdeck.tui.kept_state import KeptState
from tests.cli import serving
from tests.conftest import Home
from tests.keyrings import Good, Hanging, Raising
from tests.tui.fake_fleet import PROD, FakeFleet
from tests.tui.user import NARROW, WIDE, User, Words, answering, at_deck, connecting, seated_at

KEY, OTHER_KEY = "sentinel-key-one", "sentinel-key-two"
NOBODY = "http://127.0.0.1:9"


@dataclass
class Desk:
    """What somebody has before they open the deck."""

    home: Home
    one: str
    two: str
    """The addresses of two servers."""
    keyring: Good = field(default_factory=Good)
    environ: dict[str, str] = field(default_factory=dict)
    patience: float = 30.0

    @property
    def file(self) -> Path:
        return self.home.config / "connections.toml"

    def write(self, text: str) -> None:
        self.home.write("connections.toml", text)

    @asynccontextmanager
    async def deck(
        self,
        connection: Connection = LOCAL,
        *,
        read_only: bool = False,
        size: tuple[int, int] = NARROW,
        sees: Words = (),
    ) -> AsyncIterator[User]:
        """Open the deck on a connection, or on the local service; `read_only` is what --read-only says."""
        folders = load(os.environ).folders
        keys = Keys(folders.keys, self.environ, SystemKeyring(lambda: self.keyring, self.patience))
        deck = Deck(
            replace(connection, read_only=connection.read_only or read_only),
            connecting(partial(connect, folders.data, keys), KeptState(folders.kept), keys, read_only=read_only),
            theme="quarterdeck-dark",
            crash_folder=self.home.state,
        )
        async with seated_at(deck, size) as user:
            await user.press(sees=sees)
            yield user

    @property
    def remembered(self) -> str | None:
        return load(os.environ).preferences.last_connection

    def connection(self, name: str) -> Connection:
        return load(os.environ).connections[name]


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    one, two = ({"key": key, "HOME": str(tmp_path_factory.mktemp("home"))} for key in (KEY, OTHER_KEY))
    with serving.keyed(**one) as first, serving.keyed(**two) as second:
        yield first, second


@pytest.fixture
def desk(home: Home, urls: tuple[str, str]) -> Desk:
    """Two connections: `one` has its key in the environment, `two` has none yet."""
    desk = Desk(home, *urls, environ={"ONE_KEY": KEY})
    desk.write(
        f'[connections.one]\nurl = "{desk.one}"\nkey_env = "ONE_KEY"\ncolour = "teal"\n\n'
        f'# careful with this one\n[connections.two]\nurl = "{desk.two}"\nread_only = true\n'
    )
    return desk


async def at_list(user: User, *keys: str, sees: Words = ()) -> None:
    await user.press("c", sees=("Connections", "local service", "one", "two"))
    await user.press(*keys, sees=sees)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
async def test_the_list_says_how_each_is_doing_and_a_check_what_answers(desk: Desk, size: tuple[int, int]) -> None:
    async with desk.deck(size=size, sees="live now") as user:
        await at_list(user, sees="the local service's own")
        one, two = user.line_of(desk.one), user.line_of(desk.two)
        assert "live" in user.line_of("inside this deck")
        assert "not opened" in two
        assert "read-only" in two
        assert "read-only" not in one
        assert "■ one" in one
        assert f"{desk.one}   not opened" in one  # close to the address also where there is room for a longer one
        await user.press("down", sees=("environment variable ONE_KEY", "X-Session-API-Key"))
        await user.press("t", sees="local service, flat settings; the key is accepted")
        await user.click(desk.two[-14:], sees=("key             none", "nothing is changed on the server"))
        await user.press("t", sees="the key is missing")
        await user.press("k", "k", "t", sees="the key is accepted")
        await user.press("escape", sees=("live", "No conversations.", "no agent runs in the local service"))
    assert desk.remembered == "local"


@pytest.mark.usefixtures("no_colour")
async def test_without_colour_only_the_chosen_one_has_a_sign_and_stands_in_reverse_video(desk: Desk) -> None:
    async with desk.deck() as user:
        await user.press("T", sees="There are no colours to switch: NO_COLOR is set.")
        await user.press("z", sees="z does nothing here; ? shows the keys.")
        await at_list(user, "down", "down", sees="read-only")
        assert "■" not in user.text
        strips = user.deck.screen._compositor.render_strips()
        (chosen,) = (strip.text for strip in strips if any(piece.style and piece.style.reverse for piece in strip))
        assert " two " in chosen


async def test_where_there_is_no_room_for_an_address_it_stands_below_the_list(desk: Desk) -> None:
    async with desk.deck(size=(60, 20)) as user:
        await at_list(user, sees=f"{desk.one[-14:]} not opened")
        assert desk.one not in user.text
        await user.press("down", sees=f"address         {desk.one}")
        await user.press("up", until=lambda: desk.one not in user.text)


async def test_switching_shows_name_and_release_and_is_remembered(desk: Desk) -> None:
    async with desk.deck(size=WIDE) as user:
        await user.press("3", sees="No settings stored yet")
        await user.press("u", sees="Nothing is edited here.")
        await at_list(user, "down", "enter", sees=(" one ", "No settings stored yet"))
        assert "Nothing is edited here." not in user.text
        await user.press("1", sees=("No conversations.", "live now"), lacks="READ-ONLY")
        await user.press("2", sees=("[2 Sandboxes]", " one "))
        await at_list(user, sees=("environment variable ONE_KEY", f"release         {__version__}"))
        await user.press("k", "enter", sees=("local service", "No sandboxes."))
    assert desk.remembered == "local"


async def test_where_a_conversation_is_created_a_simulation_says_that_it_is_one(desk: Desk) -> None:
    desk.environ["SIMULATED_KEY"] = serving.KEY
    with serving.simulating(3) as url:
        async with desk.deck(Connection("simulated", url, key_env="SIMULATED_KEY"), sees="live now") as user:
            await user.until(lambda: user.session.server.kind)
            await user.press("n", sees="This is a simulation: its agents only play.")


async def test_a_server_given_by_its_address_is_never_remembered_until_it_has_a_name(desk: Desk) -> None:
    desk.environ[KEY_VARIABLE] = OTHER_KEY
    connection = Connection(desk.two.removeprefix("http://"), desk.two, key_env=KEY_VARIABLE)
    async with desk.deck(connection, sees="No conversations.") as user:
        await at_list(user, sees=("it was given by its address", f"environment variable {KEY_VARIABLE}"))
        await user.press("d", sees="it is written in no file")
        assert desk.remembered is None
        await user.press("e", sees=("New connection", connection.name.replace(":", "-")))
        await user.retype("named", "ctrl+s", sees=("Connections", "named"))
        await user.press("escape", sees=("named", "No conversations."))
    assert f'[connections.named]\nurl = "{desk.two}"\nkey_env = "{KEY_VARIABLE}"\n' in desk.file.read_text()
    assert desk.remembered == "named"


async def test_a_run_that_is_read_only_stays_so_on_every_connection(desk: Desk) -> None:
    async with desk.deck(read_only=True, sees=("READ-ONLY", "live now")) as user:
        await at_list(user, "down", "enter", sees=(" one ", "READ-ONLY", "No conversations."))
        await user.sees("This connection is read-only: none is started from here.", lacks="n creates one")
        await user.press("n", sees="this connection is read-only")
        await at_list(user, "e", sees=("Connection one", "Read-only         (•) no"))
        await user.press("escape")
    assert "true" in desk.file.read_text().partition("[connections.two]")[2]
    assert "read_only" not in desk.file.read_text().partition("[connections.two]")[0]


@pytest.mark.parametrize("given", ["by its address", "by its name"])
async def test_what_another_deck_writes_of_the_open_one_makes_no_second_equal_row(desk: Desk, given: str) -> None:
    before = desk.file.read_text()
    desk.write(f'{before}\n[connections.agents]\nurl = "{NOBODY}"\n')
    kept = desk.connection("agents")
    if given == "by its address":
        desk.write(before)
    async with desk.deck(kept if given == "by its name" else Connection("agents", NOBODY), size=WIDE) as user:
        desk.write(f'{before}\n[connections.agents]\nurl = "{NOBODY}"\nread_only = true\n')
        await at_list(user, sees=("agents", "changed in connections.toml since it was opened"))
        assert user.text.count(NOBODY) == 1
        assert "nothing is changed on the server" not in user.text
        await user.press("escape")
        desk.write(f'{before}\n[connections.agents]\nurl = "{NOBODY}9"\n')
        await at_list(user, sees=(f"{NOBODY} ", f"{NOBODY}9 "))
        if given == "by its name":
            await user.sees("changed in connections.toml since it was opened")


async def test_a_check_says_that_the_key_went_in_clear() -> None:
    async with at_deck(answering(FakeFleet(nested=True).server), PROD, sees="No conversations.") as user:
        await user.press("c", sees=("Connections", "the key can be read on the way"))
        await user.press("t", sees="no key is needed")
        await user.press("K", *"sentinel", "enter", until=lambda: not user.deck.screen.is_modal)
        await user.press("c", "t", until=lambda: "the key is accepted, and was sent unencrypted" in user.unwrapped)


async def test_however_long_the_list_the_line_of_the_cursor_and_what_is_known_of_it_are_in_sight(desk: Desk) -> None:
    wrong = f'url = "{NOBODY}"\ncolour = "rainbow"\nheader = "any"\nkey_env = ""\n'
    once = f'[connections.once]\nurl = "{NOBODY}"\nheader = "any"\n'
    desk.write(f"[connections.bad]\n{once}" + "".join(f"[connections.more{each}]\n{wrong}" for each in range(14)))
    async with desk.deck(size=(60, 20)) as user:
        await user.press("c", sees=("▌  connections.toml, line 1,", "Remarks on the file: 44", "local "))
        await user.press("j", sees="file            header is")
        for each in range(14):
            await user.press("j", sees=(f"more{each} ", "remark 1 of 3: colour is one of", "esc close"))
        await user.press("x", sees=("more13 ", "x does nothing here"))
        await user.press("t", sees=("more13 ", "check           "))
        await user.press("g", "t", sees=("inside this deck", "check           local service"))
        await user.press("slash", *"re12", sees=("more12 ", "tab list  esc close"), lacks="more13 ")


async def add(user: User, name: str, address: str, *, sees: Words) -> None:
    """Fill in a new connection and save it; its key is asked for next."""
    await at_list(user, "a", sees="New connection")
    await user.press(*name, "tab", *address, "enter", sees=sees)


async def test_a_connection_is_added_and_its_key_kept_once_proven(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    before = desk.file.read_text()
    async with desk.deck() as user:
        await add(user, "three", desk.two, sees=("Key of three", f"It is sent to {desk.two} and nowhere else."))
        await user.press(*"wrong", "enter", sees="The server refused this key.")
        assert desk.keyring.held == {}
        await user.press(*OTHER_KEY)
        pictures = [user.deck.export_screenshot(), repr(user.deck.screen), repr(user.deck.focused)]
        await user.press("enter")
        await user.sees("Connections", "It is kept in the system keyring.", "key             system keyring")
        await user.press("enter", sees=("three", "No conversations."))
        await user.press("L", sees=("Requests, newest first", "GET", "/api/v1/app-conversations/search", "200"))
        held = [repr(vars(each)) for each in (user.deck.connections.keys, user.deck)]
        pictures += [user.deck.export_screenshot(), *held]
    assert desk.keyring.held == {("quarterdeck", f"three {desk.two}"): OTHER_KEY}
    assert desk.file.read_text() == before + f'\n[connections.three]\nurl = "{desk.two}"\n'
    assert desk.remembered == "three"
    for picture in (*pictures, caplog.text):
        assert OTHER_KEY not in picture
        assert KEY not in picture.replace(repr(desk.environ), "")


async def test_what_cannot_be_a_connection_is_said_in_the_form_and_a_broken_file_not_written_over(desk: Desk) -> None:
    before = desk.file.read_text()
    async with desk.deck() as user:
        await add(user, "one", desk.one, sees="There is a connection called one already.")
        await user.press("tab", "tab", "enter", sees="■ orange")
        assert not re.search("(Read-only|CA file|Key).*■", user.text)
        await user.press("escape", "shift+tab", "shift+tab")
        await user.retype("four", "tab")
        await user.retype("ftp:", *["tab"] * 4, *"~no/ca", "ctrl+s", sees=("needs http://", "~no/ca cannot be read"))
        await user.press(*["tab"] * 4, "ctrl+u", *str(desk.file), "ctrl+s", sees="needs http:// or https://")
        await user.press(sees=("New connection", "^s save"), until=lambda: "holds no certificate" in user.unwrapped)
        desk.file.write_text(f"{before}]")
        await user.retype(desk.one, *["tab"] * 4, "ctrl+u", "ctrl+s", sees=("not TOML", "New connection", "four"))
        await user.until(lambda: "nothing was written." in user.unwrapped)
        await user.press("x", until=lambda: "not TOML" not in user.text)
        await user.press("escape", "escape", sees="Connections")
        await user.press("escape", until=lambda: not user.deck.screen.is_modal)
        await user.resize(160, 40)
        await user.press("c", sees=("Connections", "not TOML ("))
    assert desk.file.read_text() == f"{before}]"


async def give_key(user: User, name: str, key: str, *, sees: Words = ()) -> None:
    await user.press("K", sees=f"Key of {name}")
    await user.press(*key, "enter", sees=sees)


async def test_without_a_keyring_a_file_is_used_only_after_a_yes(desk: Desk, home: Home) -> None:
    desk.keyring, file = Raising(KeyringLocked()), home.config / "keys.toml"
    async with desk.deck() as user:
        await at_list(user, "down", "down")
        await give_key(user, "two", OTHER_KEY)
        await user.sees("Keep the key in a file?", "The key was not kept: the system keyring is locked.")
        await user.press("enter", sees=("used until the deck ends", "typed for this run"))
        assert not file.exists()
        await give_key(user, "two", OTHER_KEY, sees="Keep the key in a file?")
        await user.press("y", sees=("It is kept in", "keys.toml", "key             key file"))
        assert OTHER_KEY not in user.text
    assert f'[keys.two]\norigin = "{desk.two}"\nkey = "{OTHER_KEY}"\n' in file.read_text()
    async with desk.deck() as user:
        await at_list(user, "down", "down", sees="key             key file")
        file.chmod(0o644)
        await user.press("t", sees=("the key is missing", "key             none", "chmod"))
        file.write_text("")
        await give_key(user, "two", OTHER_KEY, sees="Keep the key in a file?")
        await user.press("y", sees="key             typed for this run")
    assert file.read_text() == ""


async def test_a_key_that_cannot_be_verified_is_used_for_this_run_only_and_after_escape_not_at_all(desk: Desk) -> None:
    silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1")
    host, port = silent.sockets[0].getsockname()
    desk.write(f'[connections.one]\nurl = "http://{host}:{port}"\n[connections.two]\nurl = "{NOBODY}"\n')
    async with silent, desk.deck() as user:
        await at_list(user, "down")
        await give_key(user, "one", KEY, sees=("Asking the server", "esc back"))
        await user.press("escape", sees=("esc close", "key             none"))
        await user.press("down")
        await give_key(user, "two", KEY, sees=("The key of two is used until", "Cannot connect to 127.0.0.1:9"))
        await user.sees("key             typed for this run")
    assert desk.keyring.held == {}


async def test_a_refused_key_opens_the_list_there_and_the_next_one_is_used(desk: Desk) -> None:
    async with desk.deck(desk.connection("two"), size=(60, 20)) as user:
        await user.sees("Connections", "The key is missing or not the right one. K: enter it.", "key needed")
        await user.press("escape", sees=" A valid key is needed: c, then K gives one.")
        await user.resize(*NARROW)
        await user.press("c", sees="Connections")
        await user.press("c", "enter", sees="Key of two")  # the c of one who did not see yet that the list is there
        await user.press(*OTHER_KEY, "tab", "space", "shift+tab", "enter")
        await user.sees("used until the deck ends, and kept nowhere", "READ-ONLY", "No conversations.")
        await at_list(user, sees=("typed for this run", "live"))
        await user.press("up", "enter", sees=(" one ", "No conversations."))
        await at_list(user, "down", "enter", sees=("two", "READ-ONLY", "No conversations."))
    assert (desk.keyring.held, desk.remembered) == ({}, "two")


async def test_a_key_is_not_kept_where_the_environment_goes_before_it(desk: Desk) -> None:
    desk.environ["ONE_KEY"] = OTHER_KEY
    async with desk.deck(desk.connection("one"), sees=("Connections", "key needed")) as user:
        await give_key(user, "one", KEY)
        await user.sees("ONE_KEY has another key, which goes before any other", "live now")
    assert desk.keyring.held == {}


async def test_nothing_opens_over_a_list_that_is_about_to_close(desk: Desk) -> None:
    desk.keyring = hanging = Hanging()
    hanging.go_on.set()
    try:
        async with desk.deck(desk.connection("two"), sees=("Connections", "key needed")) as user:
            await user.sees("key             none")
            hanging.go_on.clear()
            await give_key(user, "two", OTHER_KEY, sees="Asking the system keyring to keep the key…")
            await user.until(lambda: hanging.held)
            await user.press("a", sees="The last change is still under way")
            hanging.go_on.set()
            await user.sees("It is kept in the system keyring", "READ-ONLY", "No conversations.")
            await user.until(lambda: not user.deck.screen.is_modal)
    finally:
        hanging.go_on.set()


async def test_an_edit_changes_the_open_connection_and_its_key_goes_along(desk: Desk) -> None:
    desk.keyring.held["quarterdeck", f"two {desk.two}"] = OTHER_KEY
    async with desk.deck(desk.connection("two"), size=WIDE, sees=("two", "READ-ONLY", "No conversations.")) as user:
        await at_list(user, "e", sees=("Connection two", "as it is"))
        await user.retype("second", "tab", "tab", "tab", "tab", "space", "ctrl+s")
        await user.sees("Connections", "second", "system keyring")
        await user.press("escape", sees=("second", "No conversations.", "live now"), lacks="READ-ONLY")
    assert desk.keyring.held == {("quarterdeck", f"second {desk.two}"): OTHER_KEY}
    assert desk.file.read_text().endswith(f'# careful with this one\n[connections.second]\nurl = "{desk.two}"\n')
    assert desk.remembered == "second"


@pytest.mark.parametrize("answer", ["y", "n"])
async def test_a_kept_key_follows_to_another_address_only_after_a_yes(desk: Desk, answer: str) -> None:
    desk.keyring.held["quarterdeck", f"two {desk.one}"] = KEY
    desk.write(desk.file.read_text().replace(desk.two, desk.one))
    async with desk.deck() as user:
        await at_list(user, "down", "down", "e", sees="Connection two")
        await user.press("tab")
        await user.retype(desk.two, "ctrl+s", sees="The address has changed")
        await user.press("escape", sees="Nothing is saved yet.")
        assert desk.two not in desk.file.read_text()
        await user.press("ctrl+s", sees=("The address has changed", desk.one, f"Send it to {desk.two} from now on?"))
        await user.sees("n leaves it where it is (system keyring)")
        await user.press(answer)
        await user.sees("Connections", "key             system keyring" if answer == "y" else "is not used for")
        await user.press("up", until=lambda: "is not used for" not in user.text)
        await user.press("e", sees="Connection one")
        user.at_once("tab", "tab", "enter", "down", "enter", "ctrl+s")
        await user.until(lambda: 'colour = "blue"' in desk.file.read_text())
    [(_, owner)] = desk.keyring.held
    assert owner == (f"two {desk.two}" if answer == "y" else f"two {desk.one}")
    assert desk.file.read_text().count(desk.two) == 1


async def test_a_key_that_stays_with_an_old_address_goes_along_with_the_name_and_away(desk: Desk, home: Home) -> None:
    desk.keyring, file = Raising(KeyringLocked()), home.config / "keys.toml"
    file.touch(mode=0o600)
    file.write_text(f'[keys.two]\norigin = "{desk.two}"\nkey = "{OTHER_KEY}"\n')
    async with desk.deck() as user:
        await at_list(user, "down", "down", sees="key             key file")
        await user.press("e", "tab", sees="Connection two")
        await user.retype(desk.one, "ctrl+s", sees="The address has changed")
        await user.press("n", sees="is not used for")
        await user.press("e", sees="Connection two")
        await user.retype("second", "ctrl+s", sees=("second", "the key file has one"))
        await user.press("d", sees="and so is the key kept for it")
        await user.press("y", sees="second: if the system keyring has its key, that stays there")
        await user.until(lambda: "key file has one" not in user.text)
    assert file.read_text() == ""


async def test_a_connection_is_deleted_with_its_key_but_neither_the_open_nor_the_local_one(desk: Desk) -> None:
    desk.keyring.held["quarterdeck", f"two {desk.two}"] = OTHER_KEY
    async with desk.deck(desk.connection("one"), sees=(" one ", "No conversations.")) as user:
        await at_list(user, "d", sees="one is open: open another one before you delete it.")
        await user.press("up")
        for key in "edK":
            await user.press(key, sees="The local service is part of the deck")
        await user.press("down", "down", "d", sees="Delete the connection two?")
        await user.until(lambda: "check" not in user.deck.export_screenshot())
        await user.press("enter", sees=("Connections", "two", "t check"))
        await user.press("d", sees="Delete the connection two?")
        await user.press("y", sees=("Connections", "one", "sent as"), until=lambda: "two" not in user.text)
    assert desk.keyring.held == {}
    assert desk.file.read_text().endswith('colour = "teal"\n\n# careful with this one\n')


@pytest.mark.parametrize("address", ["the same", "another"])
async def test_unsaved_edits_are_asked_about_before_a_switch_and_stay_with_a_new_key(desk: Desk, address: str) -> None:
    async with desk.deck(desk.connection("one")) as user:
        await user.press("3", sees=("[3 Settings", "Model"))
        await user.press("enter", *"openai/gpt", "escape", until=lambda: user.deck.edits)
        await at_list(user, "up", "enter", sees="keep")
        await user.press("escape", sees="[3 Settings")
        assert user.deck.endpoint.name == "one"
        await at_list(user, "e", sees="Connection one")
        await user.press("tab")
        if address == "another":
            await user.retype(desk.two)
        await user.press(*["tab"] * 5, "enter", "down", "enter", "ctrl+s", sees="Key of one")
        await user.press(*KEY if address == "the same" else OTHER_KEY, "tab", "space", "shift+tab", "enter")
        if address == "another":
            await user.sees("[3 Settings", "keep")
            await user.press("escape")
        await user.sees("used until the deck ends, and kept nowhere")
        await user.until(lambda: user.deck.edits)
        await at_list(user, *(("up", "up") if address == "another" else ()))
        await user.sees("typed for this run")
