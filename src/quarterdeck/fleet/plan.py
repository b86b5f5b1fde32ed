"""What a command will do to several rows: taken when the key is pressed, so that it acts on what was seen then."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

R = TypeVar("R")


@dataclass(frozen=True)
class Plan(Generic[R]):
    """The rows a command is for, and those it leaves out, each with the reason."""

    rows: tuple[R, ...]
    skipped: tuple[tuple[R, str], ...] = ()


def plan(rows: Iterable[R], why_not: Callable[[R], str | None]) -> Plan[R]:
    """Sort rows into those a command can be done to and those it can't."""
    done, skipped = [], []
    for row in rows:
        reason = why_not(row)
        if reason is None:
            done.append(row)
        else:
            skipped.append((row, reason))
    return Plan(tuple(done), tuple(skipped))
