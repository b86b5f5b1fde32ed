"""Edits of a run or with a key that could not save them: kept, offered again, and never applied unasked."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.client.flat import KNOWN_BY
from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.tui.processes import is_running, this_process
from quarterdeck.tui.settings import unsaved
from tests.client.fakes import Answer, Asked, FakeServer, Gated
from tests.client.settings_servers import FlatServer
from tests.conftest import Home
from tests.tui_settings.conftest import FULL, Decks

NAMED = "from quarterdeck.tui.processes import this_process; print(this_process())"


@pytest.fixture(autouse=True)
def _stored_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsaved, "STORED_AFTER", 0.1)


def pages(folder: Path, kind: str) -> list[Any]:
    try:
        return [json.loads(file.read_text())["runs"] for file in (folder / "state" / kind).glob("*.json")]
    except FileNotFoundError:  # it was removed just now
        return []


async def leave_edits(deck: Decks) -> None:
    """Let a run end with two edits, one of them a secret."""
    async with deck(stored=FULL) as user:
        await user.edits(git_user_name="Grace", llm_api_key="sentinel-typed", sees="2 edited")


async def test_edits_of_a_run_that_ended_are_offered_and_taken_up(deck: Decks, tmp_path: Path) -> None:
    await leave_edits(deck)
    (page,) = pages(tmp_path, "unsaved")
    assert "sentinel" not in json.dumps(page)
    async with deck(sees=("Edits left behind", "2 edits from", "restore them")) as user:
        assert not user.form.draft.edited
        await user.press("ctrl+y", sees=("Edits restored", "Not kept, as secret or wrong", "API key"))
        await user.press("escape", sees="1 edited")
        assert (user.form.row.id, user.form.draft.changes) == ("git_user_name", {"git_user_name": "Grace"})
        assert user.posts == 0
        await user.press("ctrl+z", sees="As stored", until=lambda: pages(tmp_path, "unsaved") == [])
        await user.press("ctrl+y", until=lambda: pages(tmp_path, "unsaved") != [])
        await user.save_verified(1)
        await user.until(lambda: pages(tmp_path, "unsaved") == [])
        await user.edit("git_user_name", "Ann", "escape", sees="Unsaved settings")
        await user.press("l", until=lambda: user.deck.current_mode == "conversations")
        await user.press("3", sees="Edits left behind")
        await user.press("ctrl+n", sees="As stored", until=lambda: pages(tmp_path, "unsaved") == [])
    assert pages(tmp_path, "unsaved") == []


async def test_later_keeps_them_and_they_can_be_asked_for_and_dropped(deck: Decks, tmp_path: Path) -> None:
    await leave_edits(deck)
    async with deck(sees="Edits left behind") as user:
        await user.press("escape", sees=("f2 has them restored", "As stored"))
        await user.choose("Restore edits", sees="Edits left behind")
        await user.burst("j", "enter", "D", sees=("Edits left behind", "D does nothing here"))
        await user.press("ctrl+n", sees="As stored")
        await user.until(lambda: pages(tmp_path, "unsaved") == [])
        await user.press("f2", sees="No edits were left behind")


async def test_edits_left_at_a_switch_are_offered_once_their_connection_is_open_again(deck: Decks, home: Home) -> None:
    home.write("connections.toml", '[connections.far]\nurl = "http://far.test"\n')
    async with deck(stored=FULL) as user:
        await user.edits(git_user_name="Grace", llm_api_key="sentinel-typed", sees="2 edited")
        await user.press("c", sees="http://far.test")
        await user.press("G", "down", "enter", sees=("Unsaved settings", "Leave"))
        await user.press("l", sees=("far 0.1.0", "As stored"))
        await user.edit("language", "French", "c", sees="http://far.test")
        await user.press("g", "up", "enter", sees="Unsaved settings")
        await user.press("d", sees=("Edits left behind", "2 edits from"))
        await user.press("ctrl+y", sees=("Edits restored", "API key"))
        await user.press("escape", sees=("local service 0.1.0", "1 edited"))
        assert user.form.draft.changes == {"git_user_name": "Grace"}


async def test_two_decks_on_one_server_keep_their_edits_apart(deck: Decks, tmp_path: Path) -> None:
    async with deck(stored=FULL) as ann:
        await ann.edit("git_user_name", "Ann")
        await ann.until(lambda: pages(tmp_path, "unsaved"))
        async with deck(sees="As stored") as ben:
            assert len(ben.deck.screen_stack) == 1
            await ben.edits(language="French", git_user_name="Ben")
            await ben.add_command("search")
            await ben.until(lambda: len(pages(tmp_path, "unsaved")[0]) == 2)
        assert ann.form.draft.changes == {"git_user_name": "Ann"}
    async with deck(sees="3 edits from") as user:
        await user.press("ctrl+y", sees=("3 edited", "1 edit from"))
        await user.press("ctrl+y", sees=("Edits restored", "Edited here already, and replaced: Author name."))
        await user.press("escape", sees="3 edited")
        assert user.form.draft.value("git_user_name") == "Ann"
        await user.press("ctrl+z")
        assert user.form.draft.value("git_user_name") == "Ben"


async def test_the_edits_of_a_killed_deck_are_offered_once_they_can_be_read(deck: Decks, tmp_path: Path) -> None:
    await leave_edits(deck)
    ended = subprocess.run([sys.executable, "-c", NAMED], capture_output=True, text=True, check=True)
    (file,) = (tmp_path / "state" / "unsaved").glob("*.json")
    page = json.loads(file.read_text())
    for entry in page["runs"].values():
        entry["process"] = ended.stdout.strip()
    file.write_text(json.dumps(page | {"version": 99}))
    async with deck() as user:
        await user.until(lambda: "another version" in user.unwrapped)
        await user.press("y", sees="Copied the name llm_model")
        await user.choose("Restore edits")
        await user.until(lambda: "another version" in user.unwrapped)
    file.write_text(json.dumps(page))
    async with deck() as user:
        await user.sees("Edits left behind", "2 edits from")


@pytest.mark.parametrize("lands", [True, False])
async def test_sent_edits_are_offered_only_if_not_stored(deck_at: Decks, tmp_path: Path, *, lands: bool) -> None:
    server = Gated(FlatServer(), lambda request: request.method == "POST", acts_first=lands)
    async with deck_at(server) as user:
        await user.edit("git_user_name", "Grace")
        await user.save()
        await user.until(lambda: server.waited)
    server.gate.set()
    async with deck_at(server) as user:
        if not lands:
            await user.sees("1 edit from", "is not stored, as far as can be read", "restore them")
            await user.press("ctrl+y", sees=("1 edited", "Restored; ctrl+s shows the edits"))
            return
        await user.until(lambda: re.search("The edits from .* are stored", user.text))
        await user.sees("As stored")
        assert not user.deck.screen.is_modal
        assert pages(tmp_path, "unsaved") == []
        await user.choose("Undo save", sees=("This takes back the save of", "Grace → Ada"))
        await user.agree(sees=("Saved · 1 of 1 verified", "As stored"))


async def test_of_what_an_earlier_run_left_only_what_is_not_stored_is_counted_and_restored(deck: Decks) -> None:
    async with deck(stored=FULL) as user:
        await user.edit("language", "French")
        await user.add_command("search")
        await user.add_command("files")
        await user.edit("llm_api_key", "sentinel-typed", sees="4 edited")
    async with deck(sees="4 edits from") as user:
        await user.press("escape")
        held = await user.servers()
        tools = (*held.stdio_servers, StdioServer(name="search", command="uvx"))
        changes = {"language": "fr", "mcp_config": held.model_copy(update={"stdio_servers": tools})}
        await user.client.settings.store(await user.stored(), changes)
        await user.press("ctrl+r", until=lambda: len(user.form.draft.servers.entries) == 4)
        await user.choose("Restore edits", sees="2 edits from")
        await user.press("ctrl+y", sees=("Edits restored", "API key"))
        await user.press("escape", sees="1 edited")
        await user.save_verified(1)
        assert [tool.name for tool in (await user.servers()).stdio_servers] == ["db", "search", "files"]


def test_a_process_is_known_by_its_number_boot_and_start() -> None:
    name = this_process()
    boot, number, began = name.split(":")
    assert is_running(name)
    assert not is_running(f"{boot}:{number}:{began}0")
    assert not is_running(f"earlier:{number}:{began}")
    with subprocess.Popen([sys.executable, "-c", NAMED], stdout=subprocess.PIPE, text=True) as ended:
        assert ended.stdout
        name = ended.stdout.read().strip()
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert not is_running(name), "it was killed in a container, where nobody waits for it"
    for nonsense in ("", "::", f"{boot}:0:", f"{boot}:-1:", f"{boot}:{10**30}:", f"{boot}:x:y"):
        assert not is_running(nonsense)


class Keyed(FlatServer):
    """A server with a record for each key; one without a known key is told the old record, or refused."""

    def __init__(self, **records: dict[str, Any]) -> None:
        super().__init__()
        self.records = {key: self.record | dict.fromkeys(KNOWN_BY) | record for key, record in records.items()}
        self.refuses = False

    def __call__(self, asked: Asked) -> Answer | Exception:
        key = asked.headers.get("X-Session-API-Key", "")
        if self.refuses and key not in self.records:
            return Answer({"detail": "Unauthorized"}, 401)
        self.record = self.records.get(key, self.records["old"])
        return super().__call__(asked)


@pytest.mark.parametrize("meant", [None, True, False])
async def test_edits_stay_with_a_new_key_or_the_deck_asks_whose_they_are(deck_at: Decks, meant: bool | None) -> None:
    ada, ben = ({"git_user_name": name, "email": f"{name.lower()}@example.org"} for name in ("Ada", "Ben"))
    server = Keyed(old=ada, new=ada if meant is None else ben)
    async with deck_at(FakeServer(server)) as user:
        await user.edit("git_user_name", "Grace")
        server.refuses = True
        await user.press("c", sees="Connections")
        await user.press("K", sees="paste or type it")
        await user.type("new", "enter")
        if meant is None:
            await user.save_verified(1)
            assert server.records["new"]["git_user_name"] == "Grace"
            return
        await user.sees("Are the edits meant for these settings?", "ada@example.org", "ben@example.org")
        await user.press("y", "enter", "n", sees="n does nothing here")
        shown = ("1 edited", "changed on server") if meant else ("As stored", "Ben")
        await user.press("ctrl+y" if meant else "ctrl+n", sees=shown)
        if not meant:
            await user.press("ctrl+z", sees=("1 edited", "Grace"))
        assert user.form.draft.changes == {"git_user_name": "Grace"}
    assert server.records["new"]["git_user_name"] == "Ben"
