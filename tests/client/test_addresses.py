from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.network import checked_address, is_loopback
from tests.client.fakes import Answer, client_of


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (" http://127.0.0.1:3000/ ", "http://127.0.0.1:3000"),
        ("https://host.example/deep/prefix/", "https://host.example/deep/prefix"),
        ("HTTP://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_address_is_taken_with_its_prefix_and_without_its_last_slash(text: str, address: str) -> None:
    assert checked_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "host.example:3000",
        "http://",
        "ftp://host.example",
        "http://me:s3ntinel@host.example",
        "http://host.example?token=s3ntinel",
        "http://host.example#s3ntinel",
        "http://host.example:99999",
        "http://host .example",
        "http://host.example/\nHost: other",
        "http://[::1",
    ],
)
def test_an_address_with_something_missing_or_secret_in_it_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ServiceError) as caught:
        checked_address(text)
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.LOCAL, Outcome.NOT_SENT)
    assert "s3ntinel" not in f"{caught.value!r} {caught.value.words} {caught.value.advice}"


def test_this_machine_is_known_by_all_its_names() -> None:
    assert all(map(is_loopback, ("http://localhost:1", "http://127.9.9.9", "http://[::1]:3", "http://a.localhost")))
    assert not any(map(is_loopback, ("http://host.example", "http://10.0.0.1", "http://127.0.0.1.example")))


@pytest.mark.parametrize("record_id", ["", ".", "..", "\ud800", pytest.param("a" * 70_000, id="long")])
async def test_an_id_that_cannot_be_asked_for_is_refused(record_id: str) -> None:
    client, server = client_of({})
    with pytest.raises(ServiceError) as caught:
        await client.sandboxes.pause(record_id)
    assert (caught.value.outcome, server.asked) == (Outcome.NOT_SENT, [])


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(
    lambda text: text not in (".", "..")
)


@given(ids)
async def test_a_server_sees_exactly_the_id_that_was_paused(record_id: str) -> None:
    client, server = client_of(lambda _: Answer({"success": True}))
    await client.sandboxes.pause(record_id)
    prefix, quoted, verb = server.asked[0].path.rsplit("/", 2)
    assert (prefix, verb) == ("/api/v1/sandboxes", "pause")
    assert unquote(quoted, errors="strict") == record_id


@given(st.lists(ids, min_size=1, max_size=5))
async def test_a_server_sees_exactly_the_ids_that_were_asked_for(record_ids: list[str]) -> None:
    client, server = client_of(lambda _: Answer([]))
    await client.sandboxes.read(record_ids)
    assert server.asked[0].query == tuple(("id", record_id) for record_id in record_ids)
    assert server.asked[0].path == "/api/v1/sandboxes"
