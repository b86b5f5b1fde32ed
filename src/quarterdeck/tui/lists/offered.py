"""What a server does not offer for its conversations, in words for the key that would want it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quarterdeck.service.models.capabilities import Server

_OFFERS: dict[str, tuple[Callable[[Server], bool], str]] = {
    "rename": (
        lambda server: server.renames,
        "This server cannot rename conversations: its release keeps the titles it has given.",
    ),
    "delete": (
        lambda server: server.deletes,
        "This server cannot delete conversations; o goes to its sandbox, which can be deleted.",
    ),
    "trajectory": (lambda server: server.trajectories, "This server gives no trajectories."),
}
"""Command -> whether a server offers it, and the sentence where it does not."""
_NO_AGENT = "The local service runs no agent, so there is no trajectory to save."


def why_not_offered(name: str, server: Server) -> str | None:
    """Why a command cannot be done on this server, None where it can or where the command asks nothing of it."""
    offers, words = _OFFERS.get(name, (None, ""))
    if offers is None or offers(server):
        return None
    return _NO_AGENT if server.local and name == "trajectory" else words
