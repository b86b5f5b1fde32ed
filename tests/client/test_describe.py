from urllib.parse import unquote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.server import Generation, KeyState
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.network import checked_address, is_loopback
from tests.client.fakes import KEY, WEB_PAGE, Answer, answering, client_at, client_of, error_of, plain, raw_server
from tests.client.recorded import exchange
from tests.client.test_network import endless

FLAT, NESTED, ABOUT = "GET /api/settings", "GET /api/v1/settings", "GET /server_info"
ONE, REFUSED = "GET /api/v1/app-conversations", Answer({"detail": "Unauthorized"}, 401)
CRASHED, UNSTORED, NO_ROUTE = (
    exchange("1.11.0", f"settings-{name}").answer
    for name in ("bricked-get", "get-none-stored", "other-generation-path")
)
RECORD, OTHER = Answer({"language": "en"}), Answer({"object": "list", "data": []})


@pytest.mark.parametrize(
    ("generation", "key", "several"),
    [
        (Generation.FLAT, KeyState.ACCEPTED, [(NO_ROUTE, RECORD), (NO_ROUTE, UNSTORED), (WEB_PAGE, RECORD)]),
        (Generation.FLAT, KeyState.ACCEPTED, [(CRASHED, RECORD), (Answer({"error": "no such tenant"}, 404), RECORD)]),
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
    client, _ = client_of({FLAT: [RECORD], "GET /openapi.json": [*map(Answer, told), Answer(status=501)]})
    server = await client.describe()
    assert [await client.release() for _ in range(4)] == ["1.2.1", "", "", ""]
    images = {"sandbox_base_container_image", "sandbox_runtime_container_image", "remote_runtime_resource_factor"}
    unused = images | {"agent", "max_iterations", "max_budget_per_task", "enable_default_condenser", "sandbox_api_key"}
    assert {name for name in Settings.model_fields if not server.rules(name).in_effect} == unused
    assert not server.rules("enable_sound_notifications").clearable
    assert server.rules("search_api_key").clear_with == " "
    client, _ = client_of({FLAT: [RECORD], ABOUT: [Answer({"service": "quarterdeck-local", "version": "0.1.0"})]})
    await client.describe()
    assert await client.release() == "0.1.0", "the local service is not asked for its description"


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


NOWHERE, LIMITS = "http://127.0.0.1:1", Limits(connect=10.0, quick=10.0, repeat_after=0)
GOOD = "a sandbox's network may differ"


@pytest.mark.parametrize(
    ("status", "key", "words", "good"),
    [
        *((status, None, GOOD, True) for status in ("200 OK", "202 Accepted", "400 Bad", "405 No", "406 No")),
        ("401 No", None, "needs a key (401)", False),
        ("403 No", None, "needs a key (403)", False),
        ("401 No", "sentinel-mcp", "refuses its key (401)", False),
        ("404 No", None, "nothing is at this path", False),
        ("307 Moved", "sentinel-mcp", "not followed", False),
        ("502 Bad", None, "no welcome", False),
    ],
)
async def test_each_end_is_told_and_only_its_own_key_sent(status: str, key: str | None, words: str, good: bool) -> None:
    async with raw_server(answering(plain(b""))) as other:
        moved = plain(b"", status, f"Location: {other.url}/mcp")
        async with raw_server(answering(moved)) as server, client_at(NOWHERE, limits=LIMITS) as client:
            reached = await client.probe(f"{server.url}/deep/mcp?tenant=sentinel", SecretStr(key) if key else None)
    assert (reached.good, other.heads) == (good, [])
    [head] = [each.decode().lower() for each in server.heads]
    assert (words in reached.words, "from this machine" in reached.words) == (True, True)
    assert "sentinel" not in reached.words + reached.brief
    assert head.startswith("get /deep/mcp?tenant=sentinel http/1.1")
    assert KEY not in head
    assert ("authorization: bearer sentinel-mcp" in head) is (key is not None)


async def test_a_body_without_end_is_not_waited_for() -> None:
    async with raw_server(endless) as server, client_at(NOWHERE, limits=LIMITS) as client:
        assert (await client.probe(server.url)).good


@pytest.mark.parametrize(
    ("address", "key", "brief"),
    [
        (NOWHERE, None, "no connection"),
        ("http://nobody.invalid/sse", None, "no such host"),
        ("ws://127.0.0.1:1/x", None, "not tried"),
        ("http://[", None, "not tried"),
        (NOWHERE, "sentinel mcp", "not tried"),
    ],
)
async def test_an_address_that_cannot_answer_is_told_in_words(address: str, key: str | None, brief: str) -> None:
    async with client_at(NOWHERE, limits=LIMITS) as client:
        reached = await client.probe(address, SecretStr(key) if key else None)
    assert (reached.brief, reached.good, reached.words[-1]) == (brief, False, ".")
    assert "sentinel" not in reached.words


@pytest.mark.parametrize(
    "text",
    [
        *("", "host.example:3000", "http://", "ftp://host.example", "http://host.example:99999", "http://[::1"),
        *("http://host .example", "http://host.example/\nHost: other", "http://me:s3ntinel@host.example"),
        *("http://host.example?token=s3ntinel", "http://host.example#s3ntinel"),
    ],
)
def test_an_address_with_something_missing_or_secret_in_it_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ServiceError) as caught:
        checked_address(text)
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.LOCAL, Outcome.NOT_SENT)
    assert "s3ntinel" not in f"{caught.value!r} {caught.value.words} {caught.value.advice}"


def test_this_machine_is_known_by_all_its_names() -> None:
    assert checked_address("HTTP://[::1]:8080/") == "http://[::1]:8080"
    names = ("localhost:1", "127.9.9.9", "[::1]:3", "a.localhost", "localhost.", "0.0.0.0:3000", "[::]")
    assert all(is_loopback(f"http://{name}") for name in names)
    assert not any(map(is_loopback, ("http://host.example", "http://10.0.0.1", "http://127.0.0.1.example")))


@pytest.mark.parametrize("record_id", ["", ".", "..", "\ud800", pytest.param("a" * 70_000, id="long")])
async def test_an_id_that_cannot_be_asked_for_is_refused(record_id: str) -> None:
    client, server = client_of({})
    assert (await error_of(client.sandboxes.pause(record_id))).outcome is Outcome.NOT_SENT
    assert server.asked == []


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(lambda text: text.strip("."))


@settings(max_examples=40)
@given(st.lists(ids, min_size=1, max_size=5))
async def test_a_server_sees_exactly_the_ids_that_were_asked_for(record_ids: list[str]) -> None:
    client, server = client_of(lambda _: Answer([]))
    await client.sandboxes.read(record_ids)
    await error_of(client.sandboxes.start(record_ids[0]))
    await client.sandboxes.pause(record_ids[0])
    await client.sandboxes.delete(record_ids[0])
    batch, start, pause, delete = server.asked
    assert batch.query == tuple(("id", each) for each in record_ids)
    assert (start.query, start.content) == ((("sandbox_spec_id", record_ids[0]),), b"")
    assert (delete.query, pause.path) == ((("sandbox_id", record_ids[0]),), f"{delete.path}/pause")
    assert (unquote(delete.path, errors="strict"), delete.path.count("/")) == (f"/api/v1/sandboxes/{record_ids[0]}", 4)
