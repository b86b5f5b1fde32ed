"""Proxies that the environment names: who is asked through them, and that nobody else pays for them."""

import pytest
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind
from tests.client.fakes import ITEMS, client_at, first_page, plain, raw_server
from tests.client.test_network import EMPTY, answering, reading

FAR = "http://far.invalid"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_another_machine_is_asked_through_the_proxy_of_the_environment(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with raw_server(answering(plain(ITEMS, "200 OK", "Set-Cookie: a=tracked"))) as proxy:
        monkeypatch.setenv(name, proxy.url)
        async with client_at(FAR) as client:
            for _ in range(2):
                assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
            assert (await client.probe("http://me:word@far.invalid/mcp", SecretStr("sentinel-mcp"))).good
    assert proxy.heads[0].startswith(b"GET http://far.invalid/api/v1/sandboxes/search?limit=100 HTTP/1.1\r\n")
    assert b"authorization: bearer sentinel-mcp" in proxy.heads[-1].lower()
    assert not any(b"tracked" in head for head in proxy.heads)


async def test_a_machine_that_is_exempt_is_not_asked_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(answering(EMPTY)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "far.invalid")
        async with client_at(FAR) as client:
            assert (await reading(client)).kind is ErrorKind.DNS
    assert proxy.heads == []


async def test_a_proxy_for_https_does_not_concern_http(monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(answering(EMPTY)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        async with client_at(FAR) as client:
            assert (await reading(client)).kind is ErrorKind.DNS
    assert proxy.heads == []
