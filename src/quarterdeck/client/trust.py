"""Which certificates are trusted at an address."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError

Loading = Callable[[], ssl.SSLContext]


class Trust:
    """The certificates trusted at the address of a server, and at others; `usual` loads those trusted everywhere.

    A CA file is trusted alone, at the server's address. A plain address trusts none: loading them takes long.
    Raises ServiceError(LOCAL) for a CA file that cannot be used.
    """

    def __init__(self, address: str, ca_file: str | None, usual: Loading) -> None:
        self.own: ssl.SSLContext | None = None
        self._usual = usual
        self._elsewhere: ssl.SSLContext | None = None
        if address.startswith("https:"):
            self.own = usual() if ca_file is None else _alone(Path(ca_file).expanduser())

    async def elsewhere(self, scheme: str) -> ssl.SSLContext | None:
        """Those at any other address."""
        if scheme == "https" and self._elsewhere is None:
            self._elsewhere = await asyncio.to_thread(self._usual)
        return self._elsewhere if scheme == "https" else None

    async def of_sandbox(self, scheme: str) -> ssl.SSLContext | None:
        """Those at the address of a sandbox: its server's, where both have any."""
        return self.own if self.own is not None and scheme == "https" else await self.elsewhere(scheme)


def _alone(path: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=path)
    except (OSError, ValueError):
        words, advice = f"The CA file {path} holds no certificate that can be read.", "It has to be a PEM file."
        raise ServiceError(ErrorKind.LOCAL, words, advice, outcome=Outcome.NOT_SENT) from None
