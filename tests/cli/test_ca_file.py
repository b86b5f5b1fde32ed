"""A server with a certificate of a private authority."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import trustme

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.server import KeyState
from quarterdeck.client.transport import Access
from tests.cli.conftest import Run
from tests.client.fakes import FAST, RawServer, answering, certified, plain, raw_server
from tests.conftest import Home


def serving(certificate: trustme.LeafCert) -> AbstractAsyncContextManager[RawServer]:
    """A server that answers every request with an empty object."""
    return raw_server(answering(plain(b"{}", "200 OK", "Connection: close")), tls=certified(certificate))


async def test_a_private_authority_is_trusted_where_a_connection_names_it(tmp_path: Path) -> None:
    authority, ca_file = trustme.CA(), str(tmp_path / "ca.pem")
    authority.cert_pem.write_to_path(ca_file)
    own, other_host = authority.issue_cert("127.0.0.1"), authority.issue_cert("other.example")
    async with serving(own) as server, Client(server.url, access=Access(ca_file=ca_file, limits=FAST)) as client:
        assert (await client.describe()).key is KeyState.ACCEPTED
    for certificate, trusted in ((own, None), (trustme.CA().issue_cert("127.0.0.1"), ca_file), (other_host, ca_file)):
        access = Access(ca_file=trusted, limits=FAST)
        async with serving(certificate) as server, Client(server.url, access=access) as client:
            with pytest.raises(ServiceError, match="not trusted") as caught:
                await client.describe()
            assert caught.value.kind is ErrorKind.TLS
            assert ("CA file" in caught.value.advice) == (certificate is not other_host)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "No such file"), ("", "holds no certificate"), ("not a certificate", "holds no certificate")],
)
def test_a_file_without_a_certificate_is_named(
    content: str | None, words: str, run: Run, home: Home, tmp_path: Path
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    home.write("connections.toml", f'[connections.work]\nurl = "https://127.0.0.1:9"\nca_file = "{path}"\n')
    ended = run("doctor", "--connection", "work", "--json", status=1)
    found = [finding["words"] for finding in ended.json["findings"] if finding["good"] is False]
    assert any(str(path) in each and words in each for each in found)
