"""Values a server suggests for some fields; nothing where it suggests none (SERVERS.md: suggestions)."""

from collections.abc import Callable
from typing import Any

from quarterdeck.client.bodies import read_json
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.server import Generation, Server
from quarterdeck.client.nested import CONVERSATION
from quarterdeck.client.refusals import not_offered
from quarterdeck.client.request import Query, Request
from quarterdeck.client.schema import SCHEMA_PATHS, choices_at
from quarterdeck.client.transport import Transport

FLAT_OPTIONS = "/api/options"
NESTED_OPTIONS = "/api/v1/config"
MOST = 5_000
"""Suggestions taken from one answer; the longest real list has some 2,500."""


class OptionsResource:
    """Reads suggestions, each list of a flat server once; failures other than "not offered" are ServiceErrors.

    `server` gives what `describe()` found out; once it gives another description, everything is read again.
    """

    def __init__(self, transport: Transport, server: Callable[[], Server]) -> None:
        self._transport = transport
        self._server = server
        self._read_of = server()
        self._read: dict[str, Any] = {}

    async def models(self, query: str = "") -> tuple[str, ...]:
        """Models as provider/name that have this text in them.

        A nested server gives one page of them, and without a text the first of those it has verified.
        """
        if not self._nested:
            wanted = query.lower()
            return tuple(model for model in await self._flat("models") if wanted in model.lower())
        asked = ("query", query) if query else ("verified__eq", "true")
        items = await self._page("models/search", asked)
        return tuple(
            f"{item['provider']}/{item['name']}" if isinstance(item.get("provider"), str) else item["name"]
            for item in items
            if not item.get("hidden")
        )

    async def agents(self) -> tuple[str, ...]:
        """Agent classes."""
        return () if self._nested else await self._flat("agents")

    async def security_analyzers(self) -> tuple[str, ...]:
        """Security analyzers; a nested server names them in its schema."""
        if self._nested:
            return choices_at(await self._content(SCHEMA_PATHS[CONVERSATION]), "security_analyzer")
        return await self._flat("security-analyzers")

    async def providers(self) -> tuple[str, ...]:
        """Providers of models, of a nested server one page."""
        return tuple(item["name"] for item in await self._page("providers/search")) if self._nested else ()

    @property
    def _nested(self) -> bool:
        return self._server().generation is Generation.NESTED

    async def _flat(self, name: str) -> tuple[str, ...]:
        content = await self._content(f"{FLAT_OPTIONS}/{name}")
        items = content[:MOST] if isinstance(content, list) else ()
        return tuple(item for item in items if isinstance(item, str))

    async def _page(self, name: str, *query: tuple[str, str]) -> list[dict[str, Any]]:
        content = await self._content(f"{NESTED_OPTIONS}/{name}", (*query, ("limit", str(self._transport.limits.page))))
        items = content.get("items") if isinstance(content, dict) else None
        named = items[:MOST] if isinstance(items, list) else []
        return [item for item in named if isinstance(item, dict) and isinstance(item.get("name"), str)]

    async def _content(self, path: str, query: Query = ()) -> Any:
        """Read an answer; None for a path that is not offered. What does not depend on a query is read only once."""
        if self._read_of is not self._server():
            self._read_of, self._read = self._server(), {}
        if path in self._read:
            return self._read[path]
        request = Request("GET", path, query)
        try:
            response = await self._transport.send(request)
        except ServiceError as error:
            if not not_offered(error):
                raise
            self._read[path] = None
            return None
        content = read_json(response.body, str(request), response.status)
        if not query:
            self._read[path] = content
        return content
