"""Reading what stands beside the settings record, and what a server suggests for single fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.settings import CustomSecret, Profiles
from quarterdeck.settings.fields import Group
from quarterdeck.tui.widgets.settings.lists import Lists

if TYPE_CHECKING:
    from quarterdeck.client.client import Client
    from quarterdeck.client.models.server import Server

SUGGESTED = frozenset({"llm_model", "agent", "security_analyzer"})
"""Fields that servers suggest values for."""


async def read_lists(client: Client, server: Server) -> Lists:
    """Read custom secrets and LLM profiles; what is not to be had is said in the list's place."""
    trouble: dict[Group, str] = {}

    async def tried(group: Group, reading: Any) -> Any:
        try:
            return await reading
        except ServiceError as error:
            trouble[group] = error.words if error.kind is ErrorKind.NOT_OFFERED else f"Not read: {error.words}"
            return None

    secrets: tuple[CustomSecret, ...] | None = await tried(Group.SECRETS, client.secrets.list())
    profiles: Profiles | None = await tried(Group.PROFILES, client.profiles.list()) if server.nested else None
    return Lists(secrets, profiles, trouble)


async def read_suggestions(client: Client, key: str) -> Sequence[str]:
    """What a server suggests for a field; nothing when it cannot be asked."""
    options = client.options
    ask = {"llm_model": options.models, "agent": options.agents, "security_analyzer": options.security_analyzers}
    try:
        return await ask[key]()
    except ServiceError:
        return ()
