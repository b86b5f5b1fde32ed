"""A request as it will be sent, for a person to look at first."""

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

from quarterdeck.client.redact import Location, replace_secrets
from quarterdeck.client.request import KeyHeader

_MARK = "\ue000"
"""Marks the name of a secret in the text until the text is quoted; a private character that JSON leaves as it is."""


@dataclass(frozen=True)
class PreparedRequest:
    """Method, address and body of a request that has not been sent; secrets in the body are still `SecretStr`."""

    method: str
    path: str
    body: Any
    base: str = ""
    header: KeyHeader = KeyHeader.SESSION

    def curl(self) -> str:
        """Write it as a shell command that reads the key and every secret from the environment."""
        prefix = "Bearer " if self.header is KeyHeader.BEARER else ""
        shown = json.dumps(replace_secrets(self.body, _marked), ensure_ascii=False, indent=2)
        data = re.sub(f"{_MARK}(\\w+){_MARK}", r"""'"$\1"'""", shlex.quote(shown))
        return " \\\n  ".join(
            (
                f"curl -X {self.method} {shlex.quote(self.base + self.path)}",
                f'-H "{self.header.value}: {prefix}$QUARTERDECK_API_KEY"',
                "-H 'Content-Type: application/json'",
                f"--data {data}",
            )
        )


def _marked(at: Location, _: str) -> str:
    return _MARK + re.sub(r"\W", "_", "_".join(map(str, at)), flags=re.ASCII).upper() + _MARK
