"""A conversation as an agent server keeps it: the log, its pages, and what the socket told of it."""

import json
from pathlib import Path
from typing import Any

from quarterdeck.client.models.event import Event, EventPage, read_event

RECORDED = Path(__file__).parents[1] / "recordings" / "conversation"
LOGS = (
    "03-confirmation-ws",
    "04-confirmation-always-ws",
    "05-messages-pause-interrupt-ws",
    "10-tools-ws",
    "11-agent-server-of-1.2.1-ws",
)


def frames(name: str) -> list[dict[str, Any]]:
    """The frames of a recording that are events."""
    recorded = json.loads((RECORDED / f"{name}.json").read_text())
    read = [each.get("frame", each) for each in recorded]
    return [frame for frame in read if "kind" in frame]


def events(name: str) -> list[Event]:
    """The log of a recording."""
    return [event for frame in frames(name) if isinstance(event := read_event(frame), Event)]


def page(log: list[Event], page_id: str | None, *, newest_first: bool, limit: int) -> EventPage:
    """A page as an agent server gives it: of an unknown id the first one."""
    listed = log[::-1] if newest_first else log
    start = next((at for at, event in enumerate(listed) if event.id == page_id), 0)
    rest = listed[start + limit :]
    return EventPage.model_construct(
        events=tuple(listed[start : start + limit]), next_page_id=rest[0].id if rest else None
    )
