"""Custom secrets and tokens on stand-ins of both generations."""

from collections.abc import Awaitable, Callable

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome
from quarterdeck.client.models.settings import ProviderToken
from tests.client.fakes import FLAT, NESTED, NO_ROUTE, Answer, FakeServer, client_of, error_of

BOTH = pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])
VALUE = SecretStr("v")


def opened(nested: bool, *held: str, written: Answer | None = None) -> tuple[Client, FakeServer]:
    """A client of a server that holds these secrets, and says yes to everything else unless told otherwise."""
    items = [{"name": name, "description": ""} for name in held]
    listed = Answer({"items": items, "next_page_id": None} if nested else {"custom_secrets": items})
    written = written or Answer({"message": "done"})
    return client_of(lambda asked: listed if asked.method == "GET" else written, server=NESTED if nested else FLAT)


@BOTH
@pytest.mark.parametrize(
    ("attempt", "kind"),
    [
        (lambda client: client.secrets.create("HELD", VALUE), ErrorKind.CONFLICT),
        (lambda client: client.secrets.create("NEW", SecretStr("**********")), ErrorKind.INVALID),
    ],
)
async def test_a_secret_that_is_there_is_never_overwritten_by_a_new_one_and_no_mask_is_stored(
    nested: bool, attempt: Callable[[Client], Awaitable[None]], kind: ErrorKind
) -> None:
    client, server = opened(nested, "HELD")
    error = await error_of(attempt(client))
    assert (error.kind, error.outcome, server.sent("POST")) == (kind, Outcome.NOT_SENT, [])


@BOTH
@pytest.mark.parametrize("name", ["", "a b", "a/b", "1A", "Ä", "A\n", ".."])
async def test_a_name_that_could_not_be_deleted_again_is_refused(nested: bool, name: str) -> None:
    client, server = opened(nested, "OLD")
    for attempt in (
        client.secrets.create(name, VALUE),
        client.secrets.update("OLD", new_name=name, description=None),
    ):
        assert (await error_of(attempt)).kind is ErrorKind.INVALID
    assert server.asked == []


@BOTH
async def test_a_rename_without_a_description_says_so_and_one_of_nothing_is_no_success(nested: bool) -> None:
    client, server = opened(nested, "OTHER")
    await client.secrets.update("TOKEN", new_name="OTHER", description=None)
    assert server.sent("PUT")[0].body == {"name": "OTHER", "description": ""}
    client, server = opened(nested, "a b")
    await client.secrets.update("a b", new_name="a b", description="old")
    assert server.sent("PUT")[0].body == {"name": "a b", "description": "old"}
    client, _ = opened(nested)
    error = await error_of(client.secrets.update("TOKEN", new_name="TOKEN", description="x"))
    assert error.kind is ErrorKind.MISSING


@BOTH
async def test_a_server_without_secrets_is_said_to_keep_none_and_an_odd_list_is_no_empty_one(nested: bool) -> None:
    client, _ = client_of({"GET /api/secrets": [NO_ROUTE, Answer([])]}, server=NESTED if nested else FLAT)
    for attempt in (client.secrets.list(), client.secrets.clear_tokens()):
        assert (await error_of(attempt)).kind is ErrorKind.NOT_OFFERED
    assert nested or (await error_of(client.secrets.list())).kind is ErrorKind.SHAPE


async def test_a_value_is_replaced_only_where_that_can_be_done_and_there_is_one() -> None:
    for nested, kind in ((False, ErrorKind.NOT_OFFERED), (True, ErrorKind.MISSING)):
        client, server = opened(nested)
        assert (await error_of(client.secrets.replace_value("TOKEN", VALUE))).kind is kind
        assert server.sent("POST") == []


@BOTH
async def test_all_tokens_go_at_once_and_one_that_its_provider_refuses_is_not_a_wrong_key(nested: bool) -> None:
    client, server = opened(nested, written=Answer({"error": "Invalid token. Please make sure"}, 401))
    tokens = {"github": ProviderToken(token=SecretStr("ghp_sentinel")), "kept": ProviderToken(host="git.example")}
    error = await error_of(client.secrets.set_tokens(tokens))
    given = {"github": {"token": "ghp_sentinel", "host": ""}, "kept": {"token": "", "host": "git.example"}}
    assert server.asked[0].body == {"provider_tokens": given}
    assert error.kind is ErrorKind.INVALID
    assert error.words == "A token was refused by its provider: github."
    assert "ghp_sentinel" not in f"{error.words}{error.advice}"
