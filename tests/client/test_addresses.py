from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.network import checked_address, is_loopback
from tests.client.fakes import Answer, client_of, error_of


@pytest.mark.parametrize(
    "text",
    [
        *("", "host.example:3000", "http://", "ftp://host.example", "http://host.example:99999", "http://[::1"),
        *("http://host .example", "http://host.example/\nHost: other"),
        *(
            f"http://{end}"
            for end in ("me:s3ntinel@host.example", "host.example?token=s3ntinel", "host.example#s3ntinel")
        ),
    ],
)
def test_an_address_with_something_missing_or_secret_in_it_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ServiceError) as caught:
        checked_address(text)
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.LOCAL, Outcome.NOT_SENT)
    assert "s3ntinel" not in f"{caught.value!r} {caught.value.words} {caught.value.advice}"


def test_this_machine_is_known_by_all_its_names() -> None:
    assert checked_address("HTTP://[::1]:8080/") == "http://[::1]:8080"
    assert all(map(is_loopback, ("http://localhost:1", "http://127.9.9.9", "http://[::1]:3", "http://a.localhost")))
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
    assert delete.query == (("sandbox_id", record_ids[0]),)
    assert pause.path == f"{delete.path}/pause"
    assert (unquote(delete.path, errors="strict"), delete.path.count("/")) == (f"/api/v1/sandboxes/{record_ids[0]}", 4)
