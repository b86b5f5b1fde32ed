"""What the deck notes down for its next run; whoever opens the deck says where it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection


class Notes:
    """Notes of one run only: what a deck has that nobody gave a notebook.

    A note is JSON data of one kind about one server, without any secret. A subclass keeps them; what it cannot do
    raises ServiceError(LOCAL), in words for people.
    """

    def __init__(self) -> None:
        self._pages: dict[tuple[str, str], Any] = {}

    async def read(self, kind: str, endpoint: Connection) -> Any:
        """The note of a kind about a server, None where there is none."""
        return self._pages.get((kind, about(endpoint)))

    async def change(self, kind: str, endpoint: Connection, change: Callable[[Any], Any]) -> Any:
        """Note down what `change` makes of what was noted, and give that; None drops the note."""
        says = change(self._pages.pop((kind, about(endpoint)), None))
        if says is not None:
            self._pages[kind, about(endpoint)] = says
        return says


def about(endpoint: Connection) -> str:
    """What a note is about: the server at an address, whatever it is called; without one the local service."""
    return endpoint.url or endpoint.name
