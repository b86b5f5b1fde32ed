import httpx
import pytest

from quarterdeck.client.errors import ErrorKind, Outcome
from quarterdeck.client.models.server import Generation, KeyState
from quarterdeck.client.models.settings import Settings
from tests.client.fakes import Answer, client_of, error_of
from tests.client.recorded import exchange

FLAT, NESTED, ABOUT = "GET /api/settings", "GET /api/v1/settings", "GET /server_info"
ONE = "GET /api/v1/app-conversations"
REFUSED = Answer({"detail": "Unauthorized"}, 401)
WEB_PAGE = Answer(b"<!doctype html>", 200, {"Content-Type": "text/html"})
NO_TENANT = Answer({"error": "no such tenant"}, 404)
CRASHED, UNSTORED, NO_ROUTE = (
    exchange("1.11.0", f"settings-{name}").answer
    for name in ("bricked-get", "get-none-stored", "other-generation-path")
)
RECORD, OTHER = Answer({"language": "en"}), Answer({"object": "list", "data": []})


@pytest.mark.parametrize(
    ("generation", "key", "several"),
    [
        (Generation.FLAT, KeyState.ACCEPTED, [(NO_ROUTE, RECORD), (NO_ROUTE, UNSTORED), (WEB_PAGE, RECORD)]),
        (Generation.FLAT, KeyState.ACCEPTED, [(CRASHED, RECORD), (NO_TENANT, RECORD)]),
        (Generation.FLAT, KeyState.REFUSED, [(NO_ROUTE, REFUSED), (REFUSED, REFUSED), (CRASHED, REFUSED)]),
        (Generation.FLAT, KeyState.UNPROVEN, [(NO_ROUTE, CRASHED)]),
        (Generation.NESTED, KeyState.ACCEPTED, [(RECORD, NO_ROUTE), (UNSTORED, NO_ROUTE)]),
        (Generation.NESTED, KeyState.REFUSED, [(REFUSED, NO_ROUTE)]),
        (Generation.NESTED, KeyState.UNPROVEN, [(CRASHED, NO_ROUTE)]),
        (Generation.NONE, KeyState.UNPROVEN, [(NO_ROUTE, NO_ROUTE), (WEB_PAGE, WEB_PAGE), (OTHER, OTHER)]),
    ],
)
async def test_two_paths_tell_the_generation_and_the_key(
    generation: Generation, key: KeyState, several: list[tuple[Answer, Answer]]
) -> None:
    about = Answer({"service": "other", "settings_store": "merge"})
    for nested, flat in several:
        client, _ = client_of({NESTED: [nested], FLAT: [flat], ABOUT: [about]})
        server = await client.describe()
        assert (server.generation, server.key, server.local) == (generation, key, False)
        assert server.merges is server.nested is (generation is Generation.NESTED)


async def test_a_flat_server_uses_only_some_fields_and_may_tell_its_release() -> None:
    told = [{"info": {"version": "1.2.1"}, "paths": {}}, {"info": {"version": 5}}, b"nonsense"]
    releases = [*map(Answer, told), Answer(status=501)]
    client, _ = client_of({FLAT: [RECORD], "GET /openapi.json": releases})
    server = await client.describe()
    assert [await client.release() for _ in range(4)] == ["1.2.1", "", "", ""]
    images = {"sandbox_base_container_image", "sandbox_runtime_container_image", "remote_runtime_resource_factor"}
    unused = images | {"agent", "max_iterations", "max_budget_per_task", "enable_default_condenser", "sandbox_api_key"}
    assert {name for name in Settings.model_fields if not server.rules(name).in_effect} == unused
    assert not server.rules("enable_sound_notifications").clearable
    assert server.rules("search_api_key").clear_with == " "


@pytest.mark.parametrize("trouble", [Answer(status=503), httpx.ReadError("reset")])
async def test_a_server_that_does_not_say_for_a_moment_what_it_is_is_no_other_one(trouble: Answer | Exception) -> None:
    about = [Answer({"service": "quarterdeck-local"}), trouble, trouble, trouble, Answer({"service": "other"})]
    client, _ = client_of({FLAT: [RECORD], ABOUT: about})
    before = await client.describe()
    assert (await error_of(client.describe())).kind in (ErrorKind.SERVER, ErrorKind.BROKEN)
    assert client.server == before
    assert await client.describe() != before


async def test_what_answers_behind_one_address_is_found_out_again_when_another_server_is_plugged_in() -> None:
    answers: dict[str, Answer] = {FLAT: RECORD}
    client, server = client_of(lambda asked: answers.get(f"{asked.method} {asked.path}", NO_ROUTE))
    before = await client.describe()
    base = await client.settings.load()
    assert await client.conversations.read(["a" * 32]) is None
    answers = {NESTED: Answer({"agent_settings": {"llm": {"model": "m"}}}), ONE: Answer([{"id": "a" * 32}])}
    for attempt in (client.settings.load(), client.settings.store(base, {"language": "fr"})):
        error = await error_of(attempt)
        assert (error.kind, "another kind of server" in error.words) == (ErrorKind.WRONG_API, True)
    after = await client.describe()
    assert (after.generation, after == before) == (Generation.NESTED, False)
    assert (settings := await client.settings.load())
    assert settings.llm_model == "m"
    assert await client.conversations.read(["a" * 32])
    error = await error_of(client.settings.store(base, {"language": "fr"}))
    assert (error.kind, error.outcome, len(server.sent("POST"))) == (ErrorKind.WRONG_API, Outcome.NOT_SENT, 1)
