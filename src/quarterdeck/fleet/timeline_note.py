"""Timelines as plain JSON data, short, for there may be thousands of them."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from quarterdeck.fleet.events import EVENTS, Cause, Event

VERSION = 2
ONE_BY_ONE = 1
"""The version that says of each sandbox by itself what happened to it."""


class Noted(NamedTuple):
    """What is noted of one sandbox."""

    seen_at: datetime
    """When it was listed last."""
    events: tuple[Event, ...]


def to_note(known: Mapping[str, Noted]) -> Any:
    """Word timelines as JSON data: moments as whole seconds since 1970, those that are alike once for all their ids."""
    alike: dict[Noted, list[str]] = {}
    for sandbox_id, noted in known.items():
        alike.setdefault(noted, []).append(sandbox_id)
    return {"version": VERSION, "alike": [[ids, *_from_noted(noted)] for noted, ids in alike.items()]}


def from_note(note: Any, *, without: Container[str] = ()) -> dict[str, Noted]:
    """Read timelines, `without` those of some sandboxes; whatever makes no sense is left out."""
    read: dict[str, Noted] = {}
    for ids, told in _told(note):
        wanted = [each for each in map(str, ids) if each not in without]
        if wanted and (noted := _noted(told)) is not None:
            read.update(dict.fromkeys(wanted, noted))
    return read


def _told(note: Any) -> Iterator[tuple[Sequence[Any], Any]]:
    """Ids of sandboxes, and what is told of all of them."""
    match note:
        case {"version": int(version), "alike": [*alike]} if version == VERSION:
            for each in alike:
                match each:
                    case [[*ids], *told]:
                        yield ids, told
        case {"version": int(version), "sandboxes": dict() as sandboxes} if version == ONE_BY_ONE:
            yield from (([sandbox_id], told) for sandbox_id, told in sandboxes.items())


def _noted(told: Any) -> Noted | None:
    match told:
        case [seen_at, [*events]]:
            read = tuple(event for each in events[-EVENTS:] if (event := _event(each)) is not None)
            moment = _moment(seen_at)
            return Noted(moment, read) if read and moment is not None else None
    return None


def _from_noted(noted: Noted) -> list[Any]:
    return [_seconds(noted.seen_at), [_from_event(event) for event in noted.events]]


def _from_event(event: Event) -> list[Any]:
    lasted = None if event.lasted is None else round(event.lasted)
    return [event.what, _seconds(event.seen_at), lasted, event.cause.value, event.words]


def _event(told: Any) -> Event | None:
    match told:
        case [str(what), seen_at, lasted, str(cause), str(words)] if cause in set(Cause):
            moment = _moment(seen_at)
            seconds = float(lasted) if _is_number(lasted) and lasted >= 0 else None
            return None if moment is None else Event(what, moment, seconds, Cause(cause), words)
    return None


def _seconds(moment: datetime) -> int:
    return round(moment.timestamp())


def _moment(told: Any) -> datetime | None:
    if not _is_number(told):
        return None
    try:
        return datetime.fromtimestamp(told, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _is_number(told: Any) -> bool:
    return isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told)
