import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from tests.client.fakes import answering, client_at, error_of, first_page, plain, raw_server
from tests.client.test_network import EMPTY

FAR = "http://far.invalid"


@pytest.mark.parametrize(("name", "prefix"), [("http_proxy", ""), ("ALL_PROXY", ""), ("HTTP_PROXY", "http://")])
async def test_another_machine_is_asked_through_it(name: str, prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = b'{"items": [{"id": "s1", "status": "RUNNING"}]}'
    async with raw_server(answering(plain(listed, "200 OK", "Set-Cookie: a=tracked"))) as proxy:
        monkeypatch.setenv(name, proxy.url.removeprefix(prefix))
        async with client_at(FAR) as client:
            for _ in range(2):
                assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
            assert (await client.probe("http://me:word@far.invalid/mcp", SecretStr("sentinel-mcp"))).good
    assert proxy.heads[0].startswith(b"GET http://far.invalid/api/v1/sandboxes/search?limit=100 HTTP/1.1\r\n")
    assert b"authorization: bearer sentinel-mcp" in proxy.heads[-1].lower()
    assert not any(b"tracked" in head for head in proxy.heads)


@pytest.mark.parametrize(("name", "exempt"), [("HTTP_PROXY", "far.invalid"), ("HTTPS_PROXY", "")])
async def test_an_exempt_machine_is_asked_without_it(name: str, exempt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(answering(EMPTY)) as proxy:
        monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("NO_PROXY", exempt)
        async with client_at(FAR) as client:
            assert (await error_of(first_page(client))).kind is ErrorKind.DNS
    assert proxy.heads == []


async def test_this_machine_is_never_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(answering(EMPTY)) as proxy, raw_server(answering(EMPTY)) as server:
        for name in ("HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        async with client_at(server.url) as client:
            await first_page(client)
            assert await client.alive(SecretStr(server.url))
            assert (await client.probe(server.url)).good
    assert proxy.heads == []


async def test_a_proxy_that_does_not_answer_or_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://me:sentinel@127.0.0.1:9")
    for far in (FAR, "https://far.invalid"):
        async with client_at(far) as client:
            assert (await error_of(first_page(client))).words == "Cannot connect to the proxy 127.0.0.1:9."
    monkeypatch.setenv("ALL_PROXY", "gopher://user:sentinel@proxy.invalid")
    with pytest.raises(ServiceError, match="proxy that the environment names") as caught:
        Client(FAR)
    assert caught.value.kind is ErrorKind.LOCAL
    assert "sentinel" not in f"{caught.value.words} {caught.value.advice}"
