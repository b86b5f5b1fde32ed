import asyncio
import gzip
import os
import re
import socket
import ssl
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.limits import Limits
from quarterdeck.client.request import KeyHeader
from quarterdeck.client.transport import Access
from tests.client.fakes import FAST, KEY, Conversation, answering, client_at, error_of, first_page, plain, raw_server

SHORT = Limits(read=0.15, slow=0.4, quick=0.4, body=100_000, list_body=100_000, repeat_after=0, per_second=10_000)
"""What is waited for in vain is short, what a busy machine needs is not."""
EMPTY, NOTHING = plain(b'{"items": []}'), answering(b"")


async def failed(answer: Conversation, limits: Limits = FAST) -> tuple[ServiceError, list[bytes]]:
    """The error that a reading ends in, and the heads of the requests that were made for it."""
    async with raw_server(answer) as server, client_at(server.url, limits=limits) as client:
        return await error_of(first_page(client)), server.heads


def certified(certificate: trustme.LeafCert) -> ssl.SSLContext:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(tls)
    return tls


def seconds_in(words: str) -> float:
    [seconds] = re.findall(r"within ([\d.]+) s", words)
    return float(seconds)


@pytest.mark.parametrize("header", KeyHeader)
async def test_the_key_is_sent_in_the_header_of_the_endpoint(header: KeyHeader) -> None:
    async with (
        raw_server(answering(EMPTY)) as server,
        client_at(f" {server.url.upper()}/deep/prefix/ ", header=header) as client,
    ):
        assert client.url == f"{server.url}/deep/prefix"
        await first_page(client)
    head = server.heads[0].decode()
    assert head.startswith("GET /deep/prefix/api/v1/sandboxes/search?limit=100 HTTP/1.1")
    lines = {KeyHeader.SESSION: f"x-session-api-key: {KEY}", KeyHeader.BEARER: f"authorization: bearer {KEY}"}
    assert (lines[header] in head.lower(), head.count(KEY)) == (True, 1)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_another_origin_never_sees_the_key_nor_any_request(status: str) -> None:
    async with raw_server(answering(EMPTY)) as other:
        error, _ = await failed(answering(plain(b"", status, f"Location: {other.url}/api/v1/sandboxes/search")))
    assert (error.kind, other.heads, other.url in error.words) == (ErrorKind.REDIRECTED, [], True)


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("file:///etc/passwd", "to file, which"),
        ("//127.0.0.1:1/x", "to 127.0.0.1:1, which"),
        ("https://127.0.0.1/x", "to https://127.0.0.1"),
        ("http://me:sentinel@HOST/x", "to http://127.0.0.1"),
        *((nowhere, "without saying where") for nowhere in ("http://[", "", None)),
    ],
)
async def test_a_redirect_to_anywhere_else_is_an_error(location: str | None, told: str) -> None:
    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        host = head.decode().lower().partition("host: ")[2].partition("\r")[0]
        headers = () if location is None else (f"Location: {location.replace('HOST', host)}",)
        writer.write(plain(b"", "302 Found", *headers))

    error, heads = await failed(answer)
    assert (error.kind, len(heads), told in error.words) == (ErrorKind.REDIRECTED, 1, True)
    assert "sentinel" not in error.words


async def test_a_read_is_followed_within_its_origin_for_three_hops_and_a_write_nowhere() -> None:
    hop = plain(b"", "307 Temporary", "Location: /moved")
    async with raw_server(answering(hop, hop, hop, EMPTY)) as server, client_at(server.url) as client:
        assert await first_page(client) == ()
    assert len(server.heads) == 4
    async with raw_server(answering(hop)) as server, client_at(server.url) as client:
        error = await error_of(first_page(client))
        assert (error.kind, len(server.heads)) == (ErrorKind.REDIRECTED, 4)
        error = await error_of(client.sandboxes.pause("s1"))
    assert (error.kind, error.outcome, len(server.heads)) == (ErrorKind.REDIRECTED, Outcome.NOT_APPLIED, 5)


async def test_a_connection_the_server_dropped_when_idle_is_not_noticed_and_its_cookies_are_not_kept() -> None:
    cookie = plain(b'{"items": []}', "200 OK", "Set-Cookie: session=tracked; Path=/")
    async with raw_server(answering(cookie)) as server, client_at(server.url) as client:
        for _ in range(2):
            await first_page(client)
    assert len(server.heads) == server.connections == 2
    assert b"tracked" not in server.heads[1]


async def test_reads_keep_their_connection_and_every_write_has_its_own() -> None:
    answer = answering(plain(b'{"id": "s1", "status": "RUNNING", "items": []}'))
    async with raw_server(answer, requests_per_connection=9) as server, client_at(server.url) as client:
        for _ in range(3):
            await first_page(client)
        assert server.connections == 1
        await client.sandboxes.start()
        await client.sandboxes.pause("s1")
        assert server.connections == 3
        await first_page(client)
    assert server.connections == 3


async def silent(_: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(5)


async def dripping(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _drop in range(100):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def resetting(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()


async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not writer.transport.is_closing():
        writer.write(b"1000\r\n" + b" " * 4096 + b"\r\n")
        await writer.drain()


@pytest.mark.parametrize(
    ("fault", "kind", "tries"),
    [
        (silent, ErrorKind.STALLED, 3),
        (resetting, ErrorKind.BROKEN, 3),
        (answering(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"items":'), ErrorKind.BROKEN, 3),
        (answering(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"items":'), ErrorKind.BROKEN, 3),
        (NOTHING, ErrorKind.BROKEN, 3),
        (answering(b"\x15\x03\x01\x00\x02\x02\x46"), ErrorKind.WRONG_API, 1),
        (answering(b"SSH-2.0-OpenSSH_9.6\r\nnot HTTP\r\n\r\n"), ErrorKind.WRONG_API, 1),
        (answering(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 300_000 + b"\r\n\r\n"), ErrorKind.WRONG_API, 1),
        (answering(plain(b"not gzip", "200 OK", "Content-Encoding: gzip")), ErrorKind.BROKEN, 3),
        (answering(plain(b"{}", "200 OK", "Content-Encoding: br")), ErrorKind.BROKEN, 3),
        (endless, ErrorKind.TOO_LARGE, 1),
    ],
)
async def test_a_fault_ends_in_words_and_a_start_is_sent_once(fault: Conversation, kind: ErrorKind, tries: int) -> None:
    async with raw_server(fault) as server, client_at(server.url, limits=SHORT) as client:
        error = await error_of(first_page(client))
        assert (error.kind, len(server.heads)) == (kind, tries)
        assert error.advice
        error = await error_of(client.sandboxes.start("img"))
        assert (error.outcome, len(server.heads)) == (Outcome.UNKNOWN, tries + 1)


async def test_an_answer_that_drips_ends_at_the_deadline_of_all_tries() -> None:
    error, heads = await failed(dripping, SHORT._replace(read=5.0, total=0.4))
    assert (error.kind, len(heads)) == (ErrorKind.STALLED, 1)
    assert 0.4 <= seconds_in(error.words) < 5


async def test_answers_of_other_shapes_of_http_are_read() -> None:
    for answer in (
        b'HTTP/1.0 200 OK\r\n\r\n{"items": []}',
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + EMPTY,
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n{"items": []}\r\n0\r\n\r\n',
        plain(gzip.compress(b'{"items": []}'), "200 OK", "Content-Encoding: gzip"),
    ):
        async with raw_server(answering(answer)) as server, client_at(server.url, limits=SHORT) as client:
            assert await first_page(client) == ()


async def test_a_small_body_that_unpacks_to_a_huge_one_is_left_at_the_limit() -> None:
    packed = plain(gzip.compress(b" " * 60_000_000, compresslevel=1), "200 OK", "Content-Encoding: gzip")
    tracemalloc.start()
    try:
        error, _ = await failed(answering(packed), SHORT)
        assert error.kind is ErrorKind.TOO_LARGE
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


async def test_nobody_listening_and_a_name_nobody_has_are_said_with_the_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        host = f"127.0.0.1:{taken.getsockname()[1]}"
    async with client_at(f"http://{host}") as client:
        error = await error_of(first_page(client))
        assert (error.kind, error.outcome, host in error.words) == (ErrorKind.UNREACHABLE, Outcome.NOT_SENT, True)
        assert not await client.alive(SecretStr(f"http://{host}/some/where"))
    async with client_at("http://no-such-host.invalid") as client:
        error = await error_of(first_page(client))
    assert (error.kind, "no-such-host.invalid" in error.words) == (ErrorKind.DNS, True)


@pytest.mark.parametrize("said", [plain(b"this port is plain", "400 Bad Request"), b""])
async def test_tls_to_a_plain_server_is_told_from_a_server_that_is_down(said: bytes) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, client_at(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}") as client:
        error = await error_of(first_page(client))
    assert (error.kind, error.outcome) == (ErrorKind.TLS, Outcome.NOT_SENT)


async def test_alive_is_asked_at_the_origin_without_any_key_and_silence_is_not_alive() -> None:
    for status, alive in (("200 OK", True), ("404 Not Found", False)):
        async with raw_server(answering(plain(b"{}", status))) as there, client_at("http://127.0.0.1:1") as client:
            assert await client.alive(SecretStr(f"{there.url}/api/conversations/abc?key=secret")) is alive
        assert (there.heads[0].startswith(b"GET /alive HTTP/1.1\r\n"), KEY.encode() in there.heads[0]) == (True, False)
    async with raw_server(silent) as server, client_at("http://127.0.0.1:1", limits=SHORT) as client:
        for address in (server.url, "", "nonsense", "http://", "http://[", "file:///x", "http://a b"):
            assert not await client.alive(SecretStr(address))


async def test_plain_http_at_a_port_of_tls_is_told_by_what_is_said_or_by_hanging_up() -> None:
    for said in (
        b"<html><center>The plain HTTP request was sent to HTTPS port</center></html>",
        b"Client sent an HTTP request to an HTTPS server.\n",
        b"You're speaking plain HTTP to an SSL-enabled server port.",
    ):
        error, _ = await failed(answering(plain(said, "400 Bad Request")))
        assert (error.kind, "https" in error.words) == (ErrorKind.WRONG_API, True)
    tls = certified(trustme.CA().issue_cert("127.0.0.1"))
    async with raw_server(NOTHING, tls=tls) as server, client_at(server.url.replace("https", "http")) as client:
        error = await error_of(first_page(client))
    assert "closed the connection without an answer" in error.words
    assert "may speak https" in error.advice


async def test_a_ca_file_counts_where_the_server_vouches_for_an_address_and_nowhere_else(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    access = Access(ca_file=str(tmp_path / "ca.pem"), limits=FAST)
    async with (
        raw_server(answering(plain(b'{"status": "ok"}')), tls=certified(authority.issue_cert("127.0.0.1"))) as server,
        Client("https://127.0.0.1:1", access=access) as client,
        client_at("https://127.0.0.1:1") as other,
    ):
        assert await client.alive(SecretStr(server.url))
        assert (await client.probe(server.url)).brief == "TLS fails"
        assert not await other.alive(SecretStr(server.url))


async def test_beside_a_ca_file_no_other_certificate_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usual, own = trustme.CA(), trustme.CA()
    usual.cert_pem.write_to_path(tmp_path / "usual.pem")
    own.cert_pem.write_to_path(tmp_path / "own.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "usual.pem"))
    access = Access(ca_file=str(tmp_path / "own.pem"), limits=FAST)
    for authority, host, advised in ((usual, "127.0.0.1", True), (own, "other.example", False)):
        tls = certified(authority.issue_cert(host))
        async with raw_server(NOTHING, tls=tls) as server, Client(server.url, access=access) as client:
            error = await error_of(first_page(client))
        assert (error.kind, "not trusted" in error.words) == (ErrorKind.TLS, True)
        assert ("into the connection's CA file" in error.advice) is advised
    tls = certified(own.issue_cert("127.0.0.1"))
    async with raw_server(answering(EMPTY), tls=tls) as server, Client(server.url, access=access) as client:
        assert await first_page(client) == ()

    async def garbled(_: bytes, writer: asyncio.StreamWriter) -> None:
        os.write(writer.get_extra_info("socket").fileno(), b"\x17\x03\x03\0\5hello")

    async with raw_server(garbled, tls=tls) as server, Client(server.url, access=access) as client:
        assert (await error_of(first_page(client))).kind is ErrorKind.BROKEN
        assert (await error_of(client.sandboxes.pause("s1"))).outcome is Outcome.UNKNOWN


async def held(client: Client, rounds: int) -> int:
    """Descriptors and tasks that are held after so many rounds of readings and writes, good and bad."""
    for _ in range(rounds):
        for _ in MIXED:
            with suppress(ServiceError):
                await first_page(client)
        with suppress(ServiceError):
            await client.sandboxes.pause("s1")
    await asyncio.sleep(0.05)
    return len(list(Path("/proc/self/fd").iterdir())) + len(asyncio.all_tasks())


MIXED = (EMPTY, EMPTY, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", plain(b"No", "500 No"), EMPTY)


async def test_many_readings_hold_no_more_than_a_few() -> None:
    async with raw_server(answering(*MIXED * 20)) as server, client_at(server.url) as client:
        few = await held(client, 2)
        assert await held(client, 8) <= few + 4


@contextmanager
def full_port() -> Iterator[str]:
    """A port that takes no connection and refuses none: as many wait there as it lets wait; gives its address."""
    with socket.socket() as listening, ExitStack() as waiting:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


async def words_after_one_try(url: str) -> str:
    async with client_at(url, limits=SHORT._replace(connect=0.2)) as client:
        error = await error_of(first_page(client))
        assert len(client.log) == 1
    assert (error.kind, error.outcome) == (ErrorKind.CONNECT_TIMEOUT, Outcome.NOT_SENT)
    assert 0.2 <= seconds_in(error.words) < 5
    return error.words


async def test_a_connection_or_hello_of_tls_that_is_never_answered_is_told_after_the_first_try() -> None:
    with full_port() as url:
        assert "did not take a connection" in await words_after_one_try(url)
    async with raw_server(NOTHING) as server:
        words = await words_after_one_try(server.url.replace("http", "https"))
    assert "took the connection but did not answer the TLS hello" in words


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
    async with raw_server(answering(plain(b"", "407 Who are you"))) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        for far, said in ((FAR, "A proxy on the way wants"), ("https://far.invalid", "does not let a connection")):
            async with client_at(far) as client:
                assert said in (await error_of(first_page(client))).words
    for named in ("gopher://user:sentinel@proxy.invalid", "http://[sentinel", "http://sentinel:99999"):
        monkeypatch.setenv("ALL_PROXY", named)
        with pytest.raises(ServiceError, match="proxy that the environment names") as caught:
            Client(FAR)
        assert caught.value.kind is ErrorKind.LOCAL
        assert "sentinel" not in f"{caught.value.words} {caught.value.advice}"
