"""The real servers of a live run, as the environment names them."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client

UNNAMED = "QUARTERDECK_LIVE_URL names no server to test on"
OVERWRITE = os.environ.get("QUARTERDECK_LIVE_OVERWRITE") == "1"
"""Whether secrets may be overwritten that are stored and that nobody could put back."""


@dataclass(frozen=True)
class Target:
    """One server and its key; None for a server that wants none."""

    url: str
    key: SecretStr | None

    @property
    def label(self) -> str:
        """Host and port: how reports name it."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def client(self) -> Client:
        """A client of it, at the client's own pace."""
        return Client(self.url, self.key)


def targets_in(environment: Mapping[str, str]) -> tuple[Target, ...]:
    """Read "URL KEY" pairs from QUARTERDECK_LIVE_URLS, or the one server of QUARTERDECK_LIVE_URL and ..._KEY."""
    listed = environment.get("QUARTERDECK_LIVE_URLS", "")
    if not listed.strip() and (url := environment.get("QUARTERDECK_LIVE_URL")):
        listed = f"{url} {environment.get('QUARTERDECK_LIVE_KEY', '')}"
    pairs = (pair.split() for pair in re.split(r"[,\n]", listed))
    return tuple(_target(pair) for pair in pairs if pair)


def _target(words: list[str]) -> Target:
    url, *keys = words
    if urlsplit(url).scheme not in ("http", "https") or len(keys) > 1:
        raise pytest.UsageError("QUARTERDECK_LIVE_URLS: give each server as URL KEY, one a line or between commas.")
    return Target(url, SecretStr(keys[0]) if keys else None)


TARGETS = targets_in(os.environ)
PARAMS = [pytest.param(target, id=target.label) for target in TARGETS] or [
    pytest.param(None, id="no-server", marks=pytest.mark.skip(reason=UNNAMED))
]
