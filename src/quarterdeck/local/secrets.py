"""The stored secrets: custom ones, and tokens of git providers; what a change makes of them, as pure functions.

They are one document: `provider_tokens` has `token` and `host` by provider, `custom_secrets` has `secret` and
`description` by name. None stands for secrets that nobody ever stored.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from quarterdeck.local.errors import TakenNameError, TokenRefusedError, UnknownNameError
from quarterdeck.local.store import Record, Store

NO_SECRETS: Record = {"provider_tokens": {}, "custom_secrets": {}}
REFUSED_TOKEN = "refused"  # noqa: S105 - a word, and no secret
"""No provider is asked about a token, so any is taken but this one, for tests of what a refusal looks like."""

_MASK = re.compile(r"[*•●∗⁎＊]+")


class Secrets:
    """Reads and changes the one document of secrets."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(self) -> Record | None:
        """All of it, values included; None when nobody ever stored any."""
        return await self._store.document("secrets")

    async def change(self, rule: Callable[[Record], Record]) -> None:
        """Store what `rule` makes of it; raises what `rule` raises, and stores nothing then."""
        await self._store.change(secrets=lambda stored: rule(stored or NO_SECRETS))


def is_mask(text: str) -> bool:
    """Whether a text is what is shown in the place of a secret."""
    return _MASK.fullmatch(text.strip()) is not None


def unless_blank(text: str | None) -> str | None:
    """The text, or None when there is nothing in it."""
    return text if text and text.strip() else None


def listing(stored: Record | None) -> list[dict[str, str]]:
    """Name and description of each custom secret, in the order in which they were stored."""
    entries: Mapping[str, Record] = (stored or NO_SECRETS)["custom_secrets"]
    return [{"name": name, "description": entry.get("description") or ""} for name, entry in entries.items()]


def added(stored: Record, name: str, value: str, description: str | None) -> Record:
    """With a new custom secret. Raises `TakenNameError` when there is one of that name."""
    if name in stored["custom_secrets"]:
        raise TakenNameError(f"There is a secret {name} already.")
    return written(stored, name, value, description)


def written(stored: Record, name: str, value: str, description: str | None) -> Record:
    """With a custom secret, new or in the place of one of that name; without a description that one's is kept."""
    if description is None:
        description = stored["custom_secrets"].get(name, {}).get("description")
    entry = {"secret": value, "description": description or ""}
    return stored | {"custom_secrets": stored["custom_secrets"] | {name: entry}}


def described(stored: Record, name: str, new_name: str, description: str | None) -> Record:
    """With a custom secret renamed and described, as the last one; without a description it has none.

    Raises `UnknownNameError` when there is none of that name, `TakenNameError` when there is one of the new name.
    """
    others = dict(stored["custom_secrets"])
    entry = _taken_from(others, name)
    if new_name in others:
        raise TakenNameError(f"There is a secret {new_name} already.")
    return stored | {"custom_secrets": others | {new_name: entry | {"description": description or ""}}}


def removed(stored: Record, name: str) -> Record:
    """Without a custom secret. Raises `UnknownNameError` when there is none of that name."""
    others = dict(stored["custom_secrets"])
    _taken_from(others, name)
    return stored | {"custom_secrets": others}


def with_tokens(stored: Record, sent: Mapping[str, Mapping[str, str | None]]) -> Record:
    """With these tokens as all there are; a provider that is sent without a token keeps its own, at the host sent.

    Raises `TokenRefusedError` for a mask, and for `REFUSED_TOKEN`.
    """
    tokens: Record = {}
    for provider, entry in sent.items():
        token = unless_blank(entry.get("token"))
        if token is not None and (is_mask(token) or token == REFUSED_TOKEN):
            raise TokenRefusedError(f"The {provider} token is refused.")
        tokens[provider] = {
            "token": token or stored["provider_tokens"].get(provider, {}).get("token"),
            "host": entry.get("host"),
        }
    return stored | {"provider_tokens": tokens}


def without_tokens(stored: Record) -> Record:
    """Without the token of any git provider."""
    return stored | {"provider_tokens": {}}


def providers_set(stored: Record | None) -> dict[str, str | None]:
    """The host of each git provider that has a token."""
    tokens: Mapping[str, Record] = (stored or NO_SECRETS)["provider_tokens"]
    return {name: entry.get("host") for name, entry in tokens.items() if entry.get("token")}


def merged(stored: Record, sent: Record) -> Record:
    """With the `secrets_store` of a settings body: by name, null keeps a secret and "" takes it away with its entry."""
    return (stored | sent) | {
        group: _merged_entries(stored[group], sent[group], member)
        for group, member in (("provider_tokens", "token"), ("custom_secrets", "secret"))
    }


def _merged_entries(stored: Mapping[str, Record], sent: Mapping[str, Record], secret: str) -> Record:
    entries = dict(stored)
    for name, entry in sent.items():
        before = stored.get(name, {})
        told = {member: value for member, value in entry.items() if value is not None}
        value = entry.get(secret)
        entries[name] = before | told | {secret: before.get(secret) if value is None else unless_blank(value)}
    return {name: entry for name, entry in entries.items() if entry.get(secret) is not None}


def _taken_from(entries: dict[str, Any], name: str) -> Record:
    if name not in entries:
        raise UnknownNameError(f"There is no secret {name}.")
    entry: Record = entries.pop(name)
    return entry
