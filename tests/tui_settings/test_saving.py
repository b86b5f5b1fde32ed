import asyncio
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from quarterdeck.client.flat import KNOWN_BY
from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.client.models.settings import Settings
from tests.client.fakes import NO_ROUTE, Answer, Asked, FakeServer
from tests.servers import Mode
from tests.tui.seat import NARROW, WIDE
from tests.tui_settings.conftest import FULL, Sit
from tests.tui_settings.form import FormSeat


async def add_files_server(seat: FormSeat) -> None:
    await seat.press("a", "enter")
    await seat.sees("New stdio server")
    await seat.type("files")
    await seat.press("tab")
    await seat.type("uvx")
    await seat.press("tab")
    await seat.type("server")
    await seat.press("enter")
    await seat.type("/workspace")
    await seat.press("ctrl+s")
    await seat.sees("files  uvx")


@pytest.mark.parametrize(("size", "store"), [(NARROW, "merge"), (WIDE, "replace")])
async def test_a_language_and_a_tool_server_are_saved_and_nothing_else_changes(
    sit: Sit, size: tuple[int, int], store: Mode
) -> None:
    async with sit(stored=FULL, size=size, store=store) as seat:
        before = await seat.stored()
        await seat.find("lang")
        await seat.press("enter")
        await seat.type("French")
        await seat.press("enter")
        await add_files_server(seat)
        await seat.press("ctrl+s")
        await seat.sees("Review the changes", "fr · French", "stdio files", "added")
        await seat.press("y" if store == "replace" else "enter")
        await seat.sees("Saved · 2 of 2 verified", "As stored")
        after = await seat.stored()
    assert before.mcp_config is not None
    added = StdioServer(name="files", command="uvx", args=("server", "/workspace"))
    servers = before.mcp_config.model_copy(update={"stdio_servers": (*before.mcp_config.stdio_servers, added)})
    assert after == before.model_copy(update={"language": "fr", "mcp_config": servers})


async def test_the_first_save_of_all(sit: Sit) -> None:
    async with sit() as seat:
        await seat.sees("Nothing stored yet")
        await seat.edit("llm_model", "openai/gpt-5")
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified")
        assert (await seat.stored()).llm_model == "openai/gpt-5"


async def test_a_secret_is_replaced_and_cleared_and_never_on_the_screen(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("llm_api_key")
        await seat.press("enter")
        await seat.paste("  sentinel-pasted-key ")
        await seat.press("enter")
        await seat.sees("new value")
        await seat.press("ctrl+s")
        await seat.sees("stored → new value")
        await seat.press("r")
        await seat.sees("$LLM_API_KEY")
        assert "sentinel" not in seat.deck.export_screenshot()
        await seat.press("enter")
        await seat.sees("Saved · 1 accepted")
        await seat.press("x")
        await seat.sees("will be cleared")
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified", "not stored")
        assert (await seat.stored()).llm_api_key_set is False


async def test_no_stored_secret_is_on_any_screen(sit: Sit) -> None:
    async with sit(stored=FULL, size=WIDE) as seat:
        for row in ("mcp:0", "mcp:1", "mcp:2"):
            await seat.go_to(row)
            assert "sentinel" not in seat.deck.export_screenshot()
            await seat.press("enter")
            await seat.sees("MCP server", "take over")
            assert "sentinel" not in seat.deck.export_screenshot()
            await seat.press("escape")
        await seat.press("d", "ctrl+s")
        await seat.sees("Review the changes", "deleted")
        await seat.press("r")
        await seat.sees("curl")
        assert "sentinel" not in seat.deck.export_screenshot()


async def test_what_a_replacing_server_would_lose_is_said_first_and_enter_does_not_do(sit: Sit) -> None:
    async with sit(stored=FULL, store="replace") as seat:
        await seat.fill("language", "French")
        await seat.press("ctrl+s")
        await seat.sees("This save also loses", "Sandbox API key")
        await seat.press("enter")
        await seat.sees("y saves all the same")
        assert seat.posts == 0
        await seat.press("escape")
        await seat.sees("Not saved; your edits are kept.", "1 edited")


async def test_what_somebody_else_saves_before_and_during_the_review_is_kept(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.edit("language", "French")
        await seat.client.settings.store(await seat.stored(), {"git_user_name": "Grace"})
        await seat.press("ctrl+s")
        await seat.sees("Review the changes")
        await seat.client.settings.store(await seat.stored(), {"max_iterations": 77})
        await seat.press("enter")
        await seat.sees("Something changed on the server")
        await seat.press("enter")
        await seat.sees("Saved · 1 of 1 verified")
        after = await seat.stored()
    assert (after.language, after.git_user_name, after.max_iterations) == ("fr", "Grace", 77)


async def test_a_field_both_saved_is_asked_about(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.edit("language", "French")
        await seat.edit("git_user_name", "Grace")
        await seat.edit("max_iterations", "77")
        await seat.client.settings.store(await seat.stored(), {"language": "it", "git_user_name": "Edsger"})
        await seat.press("ctrl+s")
        await seat.sees("Changed here and on the server", "fr · French", "it · Italian", "was Ada Lovelace")
        theirs_first = seat.text.index("Language") < seat.text.index("Author name")
        await seat.press("t" if theirs_first else "m", "m" if theirs_first else "t", "enter")
        await seat.sees("Review the changes", "77")
        await seat.press("enter")
        await seat.sees("verified")
        after = await seat.stored()
    assert (after.language, after.git_user_name, after.max_iterations) == ("it", "Grace", 77)


class Store:
    """A flat server that keeps one record, and may lose an answer on its way."""

    def __init__(self, **record: Any) -> None:
        self.record = Settings().model_dump(mode="json") | record
        self.loses_answers = False
        self.refuses: Answer | None = None
        self.ignores: set[str] = set()

    def __call__(self, asked: Asked) -> Answer | Exception:
        if asked.path != "/api/settings":
            return NO_ROUTE
        if asked.method == "GET":
            return Answer(self.record)
        if self.refuses is not None:
            return self.refuses
        self.record |= {name: value for name, value in asked.body.items() if name not in self.ignores}
        return httpx.ReadTimeout("lost") if self.loses_answers else Answer({"message": "Settings stored"})


async def save_a_name(seat: FormSeat) -> None:
    await seat.fill("git_user_name", "Grace")
    await seat.press("ctrl+s")
    await seat.sees("Review the changes")
    await seat.press("y")


async def test_what_became_of_a_save_is_found_out_by_reading_back(sit_before: Sit) -> None:
    store = Store(git_user_name="Ada")
    async with sit_before(FakeServer(store)) as seat:
        store.refuses = Answer({"error": "Something went wrong storing settings"}, 500)
        await save_a_name(seat)
        await seat.sees("1 edited")
        await seat.until(lambda: "ot saved" in seat.text or "not stored" in seat.text)
        store.refuses, store.loses_answers = None, True
        await save_a_name(seat)
        await seat.sees("Saved · 1 of 1 verified")
    assert store.record["git_user_name"] == "Grace"


async def test_what_the_server_complains_of_or_did_not_take_stays_edited(sit_before: Sit) -> None:
    store = Store(git_user_name="Ada")
    detail = [{"loc": ["body", "git_user_name"], "msg": "name is taken", "type": "value_error", "input": "Grace"}]
    async with sit_before(FakeServer(store)) as seat:
        store.refuses = Answer({"detail": detail}, 422)
        await save_a_name(seat)
        await seat.sees("The server says: name is taken", "error")
        assert seat.form.row.id == "git_user_name"
        store.refuses, store.ignores = None, {"git_user_name"}
        await save_a_name(seat)
        await seat.sees("not what was saved", "Grace", "Ada")
        await seat.press("escape")
        await seat.sees("only 0 of 1 verified", "1 edited")


async def test_a_secret_the_server_never_said_yes_to_is_not_called_saved(sit_before: Sit) -> None:
    store = Store(llm_api_key_set=True, **dict.fromkeys(KNOWN_BY))
    server = FakeServer(store)
    async with sit_before(server) as seat:
        store.refuses = Answer({"error": "Something went wrong storing settings"}, 500)
        await seat.go_to("llm_api_key")
        await seat.press("enter")
        await seat.type("new-key-1")
        await seat.press("enter", "ctrl+s")
        await seat.agree()
        await seat.sees("1 edited", "Not known whether it is stored: API key.")
        assert seat.form.draft.changes == {"llm_api_key": SecretStr("new-key-1")}
        store.refuses = None
        await seat.press("ctrl+s")
        await seat.agree()
        await seat.sees("As stored", "Saved · 1 accepted")
        assert SecretStr("new-key-1") not in seat.form.draft.edits.values()
    assert server.sent("POST")[-1].body["llm_api_key"] == "new-key-1"


async def test_what_an_unknown_server_may_lose_is_named_before_and_what_it_lost_after_a_save(sit_before: Sit) -> None:
    store = Wiping(git_user_name="Ada", llm_api_key_set=True, provider_tokens_set={"github": None}, theme="red")
    async with sit_before(FakeServer(store)) as seat:
        await seat.fill("git_user_name", "Grace")
        await seat.press("ctrl+s")
        await seat.sees("This save also loses", "API key: this server's release is not known")
        assert "Git tokens (github) and custom secrets: this server's release is not known" in seat.unwrapped
        await seat.press("y")
        await seat.sees("What the server holds is not what was saved")
        for lost in ("Provider tokens", "Custom secrets", "theme"):
            assert f"{lost} (not changed by this save)" in seat.unwrapped
        assert "meant DEPLOY_KEY holds not there" in seat.unwrapped


class Wiping(Store):
    """A server of no known release, which forgets git tokens, custom secrets and what it does not know itself."""

    def __init__(self, **record: Any) -> None:
        super().__init__(**record)
        self.secrets = [{"name": "DEPLOY_KEY"}]
        self.ignores = {"theme"}

    def __call__(self, asked: Asked) -> Answer | Exception:
        if asked.path == "/api/secrets":
            return Answer({"custom_secrets": self.secrets})
        if asked.method == "POST" and asked.path == "/api/settings":
            self.secrets = []
            self.record |= {"provider_tokens_set": {}, "llm_api_key_set": False}
            del self.record["theme"]
        return super().__call__(asked)


class Holding(FakeServer):
    """Stores at once, and answers a store only once the gate is open."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.gate = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        if request.method == "POST":
            await self.gate.wait()
        return answer


async def test_leaving_waits_a_moment_for_a_save_and_never_says_that_it_was_not_sent(sit_before: Sit) -> None:
    server = Holding(Store(git_user_name="Ada"))
    async with sit_before(server) as seat:
        await save_a_name(seat)
        await seat.until(lambda: server.sent("POST"))
        await seat.press("ctrl+q")
        await seat.sees("waiting for the answer to: save of the settings; ctrl+q again leaves now")
        await seat.press("ctrl+q")
        await seat.sees("1 edit whose save is not answered yet: it may still happen.", "Keep editing", "Discard")
        assert "review and save them" not in seat.text
        await seat.press("k", "ctrl+q")
        await seat.sees("waiting for the answer to: save of the settings")
        server.gate.set()
        await seat.until(lambda: seat.deck.return_code is not None)
        assert (seat.deck.return_code, seat.deck.unanswered) == (0, ())
