"""Checks of single values: each returns one sentence about what is wrong, or None.

Servers accept a negative budget or a mask as a key without complaint, so only a client can protect its user.
"""

import math
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from quarterdeck.client.models.enums import is_mask
from quarterdeck.settings import masks
from quarterdeck.settings.fields import NUMBER, WHOLE, Check, Field, Problem, Unreadable, error, typed, warning

BLANK = re.compile(r"\s")
_SHELL = re.compile(r'["$\\`]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_IMAGE = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_HERE = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1"})  # noqa: S104 - names to recognise, nothing is bound


def problems(entry: Field, value: Any) -> Iterator[Problem]:
    """Yield what is wrong with a value of a setting, which is not None."""
    if isinstance(value, Unreadable):
        if entry.kind in (WHOLE, NUMBER) and value.text.replace("_", "").lstrip("+-").isdecimal():
            yield error("This number has too many digits.")
            return
        such = f"; type one such as {entry.kind.example}" if entry.kind.example else ""
        yield error(f"This is not {entry.kind.words}{such}.")
        return
    usual: Check = secret if entry.secret else one_line if isinstance(value, str) else hidden_part
    for check in (usual, *entry.checks):
        if problem := check(value):
            yield problem
    if entry.choices and value not in list(entry.choices):  # a server may store a list, which has no hash
        named = ", ".join(map(str, entry.choices))
        others = warning("The deck does not know what this value does; it is sent as it is.")
        yield error(f"This server takes only {named}.") if entry.only_choices else others


def one_line(value: str) -> Problem | None:
    """Require one line without control characters that is not a mask."""
    if _CONTROL.search(value):
        return error("This contains a line break or control character; type one plain line.")
    if is_mask(value):
        return error("This is a mask, not a value; type the value itself.")
    return hidden_part(value)


def hidden_part(value: object) -> Problem | None:
    """Require that no part is still masked; untouched values are not checked."""
    return error("Type the hidden part again; it is not shown.") if masks.MASK in typed(value) else None


def secret(value: SecretStr) -> Problem | None:
    """Require a key as providers issue it: no mask, quotes, header word or spaces."""
    text = value.get_secret_value()
    if not text.strip():
        return error("Nothing is typed; type the new key, or choose keep or clear.")
    if is_mask(text):
        return error("This is a mask, not a key; paste the key itself.")
    if text.lower().startswith("bearer "):
        return error('Leave out the word "Bearer"; only the key belongs here.')
    if "'" in text or '"' in text or "`" in text:
        return error("The key contains quotation marks; paste it without them.")
    if _CONTROL.search(text) or BLANK.search(text):
        return error("The key contains a space or a line break; a key is one word.")
    return None


def search_key(value: SecretStr) -> Problem | None:
    """Warn about an unusual key for the search provider."""
    known_start = value.get_secret_value().startswith("tvly-")
    return None if known_start else warning("Tavily keys begin with tvly-; others may be ignored.")


def between(least: float, most: float | None = None) -> Check:
    """Return a check for a finite number within bounds."""
    bounds = f"{least:g} or more" if most is None else f"{least:g} to {most:g}"

    def check(value: float) -> Problem | None:
        fits = math.isfinite(value) and value >= least and (most is None or value <= most)
        return None if fits else error(f"This must be {bounds}.")

    return check


def rarely_above(most: int) -> Check:
    """Return a check that warns about an unusually large number."""

    return lambda value: warning(f"More than {most} is unusual.") if value > most else None


def small_budget(value: float) -> Problem | None:
    """Warn about a budget that the service's web page does not keep."""
    return warning("The service's web page turns a budget below 1 into no limit.") if 0 < value < 1 else None


def model(value: str) -> Problem | None:
    """Require the form provider/model."""
    if BLANK.search(value):
        return error("A model name has no spaces; type it as provider/model.")
    return None if "/" in value else warning("Without a provider the server guesses it; provider/model is safer.")


def address(value: str) -> Problem | None:
    """Require an http or https address with a host."""
    problem = web_address(value, ("http", "https"))
    if problem is None and is_here(value):
        return warning("Server and sandboxes look for this on their own machines, which may not be this one.")
    return problem


def web_address(value: str, schemes: tuple[str, ...]) -> Problem | None:
    """Require an address with one of the schemes, a host and a valid port."""
    wanted = " or ".join(f"{scheme}://" for scheme in schemes[:2])
    parts = split_address(value)
    if parts is None:
        return error("This is not a web address; check its host and port.")
    if BLANK.search(value):
        return error("An address has no spaces.")
    if "://" not in value or parts.scheme not in schemes:
        return error(f"Begin the address with {wanted}.")
    return None if parts.hostname else error("The address names no host.")


def split_address(value: str) -> SplitResult | None:
    """Return the parts of an address, None if its host or port is invalid."""
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018 - reading the port validates it
    except ValueError:
        return None
    return parts


def is_here(value: str) -> bool:
    """Whether an address points to the machine that resolves it."""
    parts = split_address(value)
    return parts is not None and parts.hostname in _HERE


def image(value: str) -> Problem | None:
    """Require a container image reference."""
    if not _IMAGE.fullmatch(value):
        return error("This is not an image name; type it as repository/name:tag.")
    return None if ":" in value.rsplit("/", 1)[-1] else warning("Without a tag the newest image is taken.")


def git_identity(value: str) -> Problem | None:
    """Forbid characters that a shell would interpret: servers pass the text through one."""
    if _SHELL.search(value):
        return error('The characters " $ \\ ` break the git configuration in the sandbox; leave them out.')
    return None


def mail(value: str) -> Problem | None:
    """Warn unless the text looks like name, at sign, domain."""
    return None if _MAIL.fullmatch(value) else warning("This does not look like an e-mail address.")
