"""Secrets in what is sent, received or shown: recognizing them, removing them, and refusing to send masks."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, FieldProblem, Outcome, ServiceError
from quarterdeck.client.models.enums import is_mask

Location = tuple[str | int, ...]
Replace = Callable[[Location, str, int | None], object]
"""Returns what stands in place of a text that contains a secret."""
SHORTEST = 4
"""Shorter secrets are not removed from other text: too much of it would be removed by accident."""
STARS = "**********"
"""Replaces a secret in the text form of a record, as pydantic does."""

SECRET_WORD = "(?:key|token|secret|password|passwd|passphrase|pwd|credential|cookie|auth|authorization|bearer|header)s?"  # noqa: S105
"""The words in a name that make its value secret: the only list of them."""
_SECRET_NAME = re.compile(
    rf"(?:{SECRET_WORD}(?:[-_. ]?(?:id|value|text|data|store|\d+))?|(?:^|\.)env(?:ironment)?)$", re.I
)
_OPEN_OF_AUTH = ("strategy", "header_name")
"""Members of an authentication that are not secret."""
_FLAG = re.compile(r"-[A-Za-z0-9]|--.*", re.DOTALL)
_ASSIGNED = re.compile(rf"{SECRET_WORD}[\"']?\s*[=:]\s*(?=\S)", re.I)
_HEADER = re.compile(r"[A-Za-z-]+:\s+(?=\S)")
_TELLING_ADDRESS = re.compile(r"://(?:[^/?#]*@|[^?#]*[?#].)", re.DOTALL)
"""An address with a user name, a query or a fragment."""


def is_secret_name(name: str) -> bool:
    """Whether a text with this name is secret, and so every text in an object or list with this name.

    Only the end of the name counts, which may be the dotted place of a setting: `auth_token` and `X-Api-Key` are
    secret, `auth_type` is not. Numbers and flags are never secret, for example `max_output_tokens`.
    """
    return _SECRET_NAME.search(name[-40:]) is not None


def scrub(text: str, secrets: Iterable[str]) -> str:
    """Remove known secrets from a text, the longest first, because one may contain another."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = text.replace(secret, "…")
    return text


def secrets_in(body: Any) -> tuple[str, ...]:
    """Return every secret text in a body."""
    found: list[str] = []
    replace_secrets(body, lambda _at, secret, _begins: found.append(secret))
    return tuple(found)


def with_stars(value: Any, name: str = "") -> Any:
    """Copy a value with stars for each secret text in it; `name` is what it is called."""
    return replace_secrets(value, lambda *_: STARS, (name,), is_secret_name(name))


def as_secrets(value: Any) -> Any:
    """Copy a value with each text in it as a secret; a mask, also the "*" that means all, hides nothing and stays."""
    return replace_secrets(value, lambda _at, text, _: text if is_mask(text) else SecretStr(text), hidden=True)


def replace_secrets(value: Any, replace: Replace, at: Location = (), hidden: bool = False) -> Any:
    """Return a copy of a body with each text that contains a secret replaced by `replace(location, text, begins)`.

    Secret are: a `SecretStr`, every text below a member with a secret name, an address with a user name, query or
    fragment, and an argument that contains a secret or follows a word like "--token" or "-H". `begins` is the
    position where the secret begins in such an argument, 0 for an address, None if the whole text is secret.
    """
    if isinstance(value, SecretStr):
        value, hidden = value.get_secret_value(), True
    if isinstance(value, Mapping):
        told = _OPEN_OF_AUTH if at[-1:] == ("auth",) else ()
        return {
            name: replace_secrets(
                member, replace, (*at, name), (hidden and name not in told) or is_secret_name(str(name))
            )
            for name, member in value.items()
        }
    if isinstance(value, list | tuple):
        copied = []
        for place, (item, before) in enumerate(zip(value, (None, *value), strict=False)):
            asked = hidden or (_asks_for_secret(before) and not (isinstance(item, str) and _FLAG.fullmatch(item)))
            begins = 0 if asked else _secret_in(item)
            if begins:
                copied.append(replace((*at, place), item, begins))
            else:
                copied.append(replace_secrets(item, replace, (*at, place), asked))
        return copied
    if not isinstance(value, str) or not value:
        return value
    if not hidden and _TELLING_ADDRESS.search(value):
        return replace(at, value, 0)
    return replace(at, value, None) if hidden else value


def _asks_for_secret(item: object) -> bool:
    return isinstance(item, str) and (item == "-H" or (re.search(r"[=:\s]", item) is None and is_secret_name(item)))


def _secret_in(item: object) -> int:
    """Return where the secret begins in an argument with a secret name or a header; 0 if there is none."""
    if not isinstance(item, str) or not ("=" in item or ":" in item):
        return 0
    name, _, given = item.partition("=")
    if given and is_secret_name(name):
        return len(name) + 1
    found = _ASSIGNED.search(item) or _HEADER.match(item)
    return found.end() if found else 0


def refuse_unsendable(body: Mapping[str, Any]) -> None:
    """Raise ServiceError(INVALID) for a mask in place of a secret (SERVERS.md: masks), and for invalid JSON.

    Invalid are numbers that are not finite, which servers store as null, and lone surrogates, which some servers store
    and then cannot read.
    """
    replace_secrets(body, _whole)
    for name, value in body.items():
        try:
            json.dumps(value, default=revealed, allow_nan=False, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise invalid((name,), "this contains half a character.") from None
        except ValueError:
            raise invalid((name,), "this is not a finite number.") from None


def invalid(at: Location, message: str) -> ServiceError:
    """Return the error for a value that is not sent; `at` begins with the field's name as the caller gave it."""
    problem, advice = FieldProblem(at, message), "Change it and save again; nothing was sent."
    return ServiceError(ErrorKind.INVALID, str(problem), advice, outcome=Outcome.NOT_SENT, problems=(problem,))


def _whole(at: Location, secret: str, _begins: int | None) -> str:
    if is_mask(secret):
        raise invalid(at, "this is a mask, not the value behind it.")
    return secret


def revealed(secret: SecretStr) -> str:
    """Return the text of a secret, for a JSON encoder: nothing else in a body is unknown to JSON."""
    return secret.get_secret_value()
