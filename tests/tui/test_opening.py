import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.config.connections import Connection
from quarterdeck.fleet import watch
from quarterdeck.fleet.health import Health
from quarterdeck.tui import app
from quarterdeck.tui.columns.details import health_cell
from quarterdeck.tui.commands import Place, commands_at
from quarterdeck.tui.connections import Connect
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.widgets.form.actions import LIST_COMMANDS
from tests.client.fakes import NO_ROUTE, Answer, Asked, FakeServer
from tests.tui.conftest import Decks
from tests.tui.fake_fleet import CONVERSATIONS, PROD, FakeFleet, at_conversations, page, start_task
from tests.tui.user import LOCAL, WIDE, answering, at_deck, connecting, local, seated_at


def after(before: Callable[[Connection], Awaitable[object]], folder: Path) -> Connect:
    """Connects to the embedded service after something else."""

    @asynccontextmanager
    async def connect(endpoint: Connection, key: SecretStr | None = None) -> AsyncIterator[Client]:
        await before(endpoint)
        async with local(folder)(endpoint, key) as client:
            yield client

    return connect


async def test_keys_answer_while_the_connection_is_still_being_opened(folder: Path) -> None:
    gate = asyncio.Event()
    async with at_deck(after(lambda _: gate.wait(), folder), sees="connecting…") as user:
        await user.press("2", sees=("[2 Sandboxes]", "Reading the sandboxes…"))
        await user.press("n", sees="Start: not connected yet.")
        await user.press("X", sees="No conversation: not connected yet.")
        await user.press("question_mark", sees="Keys: sandboxes")
        for dismiss in [user.deck.screen.dismiss] * 2:  # as an answer does that comes while the page is being closed
            dismiss()
        await user.press("/", *"hel", sees="/ hel", lacks="0 of 0")
        gate.set()
        await user.sees("live now")
        await user.press(*"lo", sees="/ hello")


async def test_what_is_typed_too_early_waits_for_the_connection(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "CONNECTED_WITHIN", 30.0)
    gate = asyncio.Event()
    async with at_deck(after(lambda _: gate.wait(), folder)) as user:
        user.at_once("n", *"hello" * 20)
        gate.set()
        await user.sees("New conversation")
        await user.burst("ctrl+s", sees=("Created.", "hello" * 4))  # it waits for what was typed before


async def test_a_service_that_cannot_be_opened_is_named_and_another_can_be_chosen(folder: Path) -> None:
    gate = asyncio.Event()

    async def check(endpoint: Connection) -> None:
        await gate.wait()
        if endpoint.name != "local service":
            raise ServiceError(ErrorKind.LOCAL, "The folder is not yours.", "Make it yours. " * 4)

    async with at_deck(after(check, folder), Connection("mine")) as user:
        await user.press("c", "up", sees="opening…")
        gate.set()
        await user.sees("The folder is not yours.")
        await user.press("e", sees="The local service is part of the deck")
        await user.press("escape", sees=("no server", "The folder is not yours. Make it yours.", "ctrl+r tries again"))
        assert user.text.count("The folder is not yours.") == 1
        assert all(line.startswith("    ") for line in user.text.splitlines() if "yours" in line)
        await user.press("c", sees=("Connections", "The folder is not yours."))
        await user.press("up", "enter", sees=("local service", "No conversations."))


@pytest.mark.parametrize(("place", "opened"), [("1", "No conversations."), ("3", "No settings stored yet")])
async def test_a_service_that_could_not_be_opened_is_opened_by_a_refresh(folder: Path, place: str, opened: str) -> None:
    damaged = True

    async def check(endpoint: Connection) -> None:
        if damaged:
            raise ServiceError(ErrorKind.LOCAL, "The file is damaged.", "Move it away.")

    async with at_deck(after(check, folder)) as user:
        await user.press(place, sees=("The file is damaged.", "ctrl+r tries again"))
        await user.press("ctrl+r", sees=("The file is damaged.", "ctrl+r tries again"))
        damaged = False
        await user.press("ctrl+r", sees=(opened, "local service"))


async def test_a_server_that_is_down_is_named_and_found_again_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LONGEST_BACKOFF", 2.0)
    fleet, up = FakeFleet(), False
    server = FakeServer(lambda asked: fleet.answer(asked) if up else httpx.ConnectError("refused"))
    async with at_deck(answering(server), PROD, size=(60, 20)) as user:
        await user.sees("prod", "server.test", "c chooses another server.")
        await user.until(lambda: re.search(r"prod · (nothing read yet|offline), retry", user.line(0)))
        tabs = r"\[1 Conversations\] 2 .* 3 .*prod · (nothing read|offline)"
        await user.resize(80, 24, until=lambda: re.search(tabs, user.line(0)))
        assert "No conversations." not in user.text
        await user.press("2", "n", until=lambda: re.search(r"Start a sandbox(\n▌? *){2}\n▌ +[A-Z]", user.text))
        await user.press("escape", "1", "escape", sees="No filter is set; / types one.")
        await user.press("L", until=lambda: re.search(r"unreachable {2,4}\d+ ms {2}GET {4}/", user.text))
        await user.press("escape")
        up = True
        await user.press("ctrl+r", sees="No conversations.")


async def test_a_page_in_front_of_a_server_is_no_other_server() -> None:
    page: Answer | None = None
    fleet = FakeFleet(tasks=[start_task(status="ERROR")])
    server = FakeServer(lambda asked: page or fleet.answer(asked))
    async with at_deck(answering(server), PROD, sees=("live now", "✗ 1 failed")) as user:
        await user.until(lambda: user.session.server.kind)
        page = Answer(b"<!doctype html>", headers={"Content-Type": "text/html"})
        for _ in range(2):
            await user.press("ctrl+r", sees="web page", until=lambda: not user.session.start_tasks.health.refreshing)
        await user.pause()
        await user.sees("✗ 1 failed")
        page = None
        await user.press("ctrl+r", sees=("live now", "✗ 1 failed"), lacks="Another server")


async def test_no_row_of_the_server_before_is_left_when_another_answers_at_the_address(fleet: FakeFleet) -> None:
    other = False

    def script(asked: Asked) -> Answer | Exception:
        if not other:
            return fleet.answer(asked)
        return Answer({"detail": "Unauthorized"}, 401) if asked.path.startswith("/api/v1/") else NO_ROUTE

    async with at_deck(answering(FakeServer(script)), PROD, sees=("Fix login", "live now")) as user:
        other = True
        await user.press("ctrl+r", sees="key needed", until=lambda: "Fix login" not in user.text)


@pytest.mark.parametrize("nested", [False, True], ids=["of one release", "of two"])
async def test_rows_of_two_servers_at_one_address_are_not_mixed(nested: bool) -> None:
    a, b, c, d = (letter * 32 for letter in "abcd")
    server = fleet = FakeFleet(tasks=[start_task(a, "READY", app_conversation_id="c1"), start_task(b, "ERROR")])
    fleet.talk("c1", fleet.add("box"), "Fix login")
    async with at_deck(answering(FakeServer(lambda asked: server.answer(asked))), PROD) as user:
        await user.sees("Fix login", "✗ 1 failed", "prod 1.8.1")
        server = FakeFleet(nested=nested, tasks=[start_task(c, "ERROR"), start_task(d, "ERROR")])
        user.session.conversations.refresh()
        await user.sees("✗ 2 failed", *["Another server answers at this address than before"] * nested)
        assert "Fix login" not in user.text


async def test_settings_that_are_not_where_they_were_have_it_found_out_what_answers_now() -> None:
    server = FakeFleet()
    async with at_deck(answering(FakeServer(lambda asked: server.answer(asked))), PROD, sees="No conversation") as user:
        await user.until(lambda: user.session.server.release)
        server = FakeFleet(nested=True)
        await user.press("3", sees=("Another server answers at this address than before", "No settings stored yet"))
        await user.press("j", "enter", *"mine", "enter", sees="1 edited")
        server = FakeFleet()
        await user.press("ctrl+r", sees=("made on the settings of another server", "y keeps them"))


async def test_hostile_text_reaches_the_screen_as_text_only() -> None:
    title = "[red]x[/] [@click=app.quit]y[/] \x1b]0;owned\x07 \u202eabc [/ a\uffffb\ufdd0 👍🏽 👩\u200d💻 🇩🇪"
    item = {"id": "a" * 32, "title": title, "sandbox_id": "s", "sandbox_status": "RUN\x1b[31mNING"}
    server = FakeServer({f"GET {CONVERSATIONS}/search": [page([item])]})
    async with at_deck(answering(server), PROD, size=(160, 30), sees=("[red]x[/] [@click=", "RUN␛[31mNING")) as user:
        for key, words in (("i", "sandbox status  RUN␛[31mNING"), ("enter", "The server does not tell")):
            await user.press(key, sees=("[red]x[/] [@click=app.quit]y[/] ␛]0;owned␇ abc [/ a�b� 👍 👩 DE", words))
            assert not {"\x1b", "\x07", "\u202e"} & set(user.text)
            await user.press("escape")


async def test_read_only_changes_nothing_and_says_so(folder: Path) -> None:
    endpoint = Connection(LOCAL.name, read_only=True)
    async with at_deck(local(folder), endpoint, sees=("READ-ONLY", "No conversations.")) as user:
        refused = {"n": "New", "p": "Pause", "r": "Resume", "e": "Rename", "R": "Retry", "D": "Delete"}
        for place, keys in (("1", refused), ("2", {"n": "Start", "p": "Pause", "D": "Delete", "I": "Quiet sandboxes"})):
            for key, label in keys.items():
                await user.press(place, key, sees=f"{label}: this connection is read-only")


async def test_a_small_terminal_is_survived(deck: Decks) -> None:
    async with deck(sees="No conversations.") as user:
        for size in ((20, 5), (1, 1), (60, 20), (200, 60)):
            await user.resize(*size)
            await user.press("2", "1")
        choice = ("n", *["tab"] * 4, "enter")
        for keys, words in (("C", "Columns"), ("?", "Keys: conversations"), (":1", "Commands"), (choice, "▌")):
            await user.press(*keys, sees=words)
            for size in ((40, 10), (10, 3), (1, 1), (200, 60)):
                await user.resize(*size)
                await user.press("down", "pageup", "pagedown")
            await user.press("escape", "escape", sees="No conversations.")
        for size in ((59, 20), (60, 19), (20, 6)):
            await user.resize(*size, sees="Enlarge to 60x20.")
            await user.resize(60, 20, until=lambda: "Enlarge" not in user.text)
        await user.until(lambda: "local service" in user.line(0) and "live now" in user.line(0))
        await user.press("2", until=lambda: "[2 Sandboxes]" in user.line(0))


async def test_what_the_message_line_has_no_room_for_is_cut_with_a_sign(tmp_path: Path) -> None:
    deck = app.Deck(LOCAL, connecting(local(tmp_path)), crash_folder=tmp_path, notices=["a file is wrong " * 40])
    async with seated_at(deck) as user:
        await user.until(lambda: re.search(r"…\n+ \? Help", user.text))
        await user.resize(180, 60, until=lambda: user.unwrapped.count("a file is wrong") == 40)


async def test_the_palette_offers_the_commands_of_the_screen_and_leaving_is_told_and_asked_about(deck: Decks) -> None:
    async with deck(size=(60, 20), sees="No conversations.") as user:
        await user.press("ctrl+c", sees="ctrl+q leaves the deck.")
        await user.press("n", "ctrl+c", sees="▌  ctrl+q leaves the deck.")
        await user.press("escape", "2", "ctrl+p", "pageup", "pagedown", "pageup")  # before it is painted
        await user.sees("Commands", "n     Start", "p     Pause", lacks="Go back")  # the most needed
        await user.paste("ba\u202e", *"ck", sees=("q     Back", "Go back"))
        await user.press("escape", "1", "q", sees=("Quit Quarterdeck?", "Sandboxes keep running."))
        await user.press("n", "q", "y", until=lambda: user.deck.return_code == 0)


async def test_every_command_is_an_action_of_its_screen_or_of_the_deck(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as user:
        for keys, words in (("1", "[1 C"), ("2", "[2 S"), ("3", "[3 S"), ("1 enter", "m writes a message")):
            await user.press(*keys.split(), sees=words)
            screen = user.deck.screen
            assert isinstance(screen, DeckScreen)
            owners = (screen, *screen.helpers, user.deck)
            for command in commands_at(screen.PLACE):
                at_a_list = screen.PLACE is Place.SETTINGS and command.name in LIST_COMMANDS
                assert at_a_list or any(hasattr(each, f"action_{command.name}") for each in owners), command


@pytest.mark.parametrize(("later", "words_then"), [(0.0, "live now"), (5.9, "live now"), (13.0, "live 12s ago")])
def test_the_age_of_a_healthy_list_moves_in_steps(later: float, words_then: str) -> None:
    health = Health(read_at=100.0, whole_at=100.0, incomplete=False)
    ((said, _),) = health_cell(health, 100.0 + later)
    assert said == words_then


@pytest.mark.parametrize(
    ("keys", "typed_into"),
    [("n", "First message"), ("/", "words, tokens"), ("c", "Connections"), ("cD", "its address"), ("ca", "New conn")],
)
async def test_a_key_that_is_refused_meanwhile_opens_nothing_over_what_is_typed(keys: str, typed_into: str) -> None:
    fleet, refused = FakeFleet(), False
    fleet.talk("c1", fleet.add("box"), "Fix login")
    server = FakeServer(lambda asked: Answer({"detail": "No"}, 401) if refused else fleet.answer(asked))
    async with at_deck(answering(server), PROD, sees=("Fix login", "live now")) as user:
        await user.press(*keys, sees=typed_into)
        stands, refused = user.deck.screen, True
        user.session.refresh()
        await user.sees("The key is missing or wrong: K in the connections (c) gives one.", typed_into)
        assert user.deck.screen is stands
        if keys == "cD":
            await user.sees("The key is missing or not the right one. K: enter it.")


HOUR = timedelta(hours=1)


def at_another_time(fleet: FakeFleet, ahead: timedelta) -> FakeServer:
    """The server of a fleet, which tells its own time in every answer."""

    def answer(asked: Asked) -> Answer | Exception:
        said, date = fleet.answer(asked), format_datetime(datetime.now(UTC) + ahead, usegmt=True)
        return said if isinstance(said, Exception) else replace(said, headers={**said.headers, "Date": date})

    return FakeServer(answer)


@pytest.mark.parametrize(("ahead", "apart"), [(24 * HOUR, "1d ahead of"), (-24 * HOUR, "1d behind")])
async def test_ages_are_reckoned_by_the_clock_of_the_server(ahead: timedelta, apart: str) -> None:
    fleet, now = FakeFleet(), datetime.now(UTC) + ahead
    fleet.add("box", created=(now - 5 * HOUR).isoformat())
    fleet.talk("c1", "box", "Fix login", updated_at=(now - 3.5 * HOUR).isoformat())
    async with at_deck(answering(at_another_time(fleet, ahead)), PROD, size=WIDE) as user:
        await user.sees("Fix login", f"The server's clock is {apart} this machine's")
        assert re.search(r"\b3h[23]\dm\b", user.line_of("Fix login"))
        await user.press("2", sees=("QUIET", "Fix login"))
        assert re.search(r"\b3h[23]\dm\b", user.line_of("Fix login")), "quiet since the conversation in it changed"


async def test_a_time_far_in_the_future_is_shown_as_the_date_and_leads_nothing() -> None:
    fleet, now = FakeFleet(), datetime.now(UTC)
    fleet.talk("c1", "", "Of 2099", created_at="2099-03-04T05:06:07Z", updated_at="2099-03-04T05:06:07Z")
    fleet.talk("c2", "", "Of today", updated_at=(now - HOUR).isoformat())
    fleet.talk("c3", "", "Of 9999", created_at="9999-12-31T23:59:59Z", updated_at="9999-12-31T23:59:59Z")
    fleet.talk("c4", "", "Of this week", updated_at=(now - 50 * HOUR).isoformat())
    async with at_deck(answering(at_another_time(fleet, timedelta())), PROD, size=WIDE) as user:
        await user.sees("Of 9999", "Of today")
        assert [user.rows[each].title for each in user.table.ids] == ["Of today", "Of this week", "Of 2099", "Of 9999"]
        assert "2099-03" in user.line_of("Of 2099")
        assert "9999-12" in user.line_of("Of 9999")
        await user.go_to("c3", "i", sees=("9999-12-31 23:59Z", "ahead of any clock"))
        await user.press("escape", "slash", *"updated<3d", until=lambda: len(user.table.ids) == 2)
