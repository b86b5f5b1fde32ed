"""What a simulated service is told to be like."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

Clock = Callable[[], datetime]
"""Gives the moment it is, in UTC."""


@dataclass(frozen=True)
class Faults:
    """What goes wrong on purpose: nothing, unless it is said."""

    pauses_fail: frozenset[str] = frozenset()
    """Sandboxes whose pause is answered with a server error."""
    pauses_ignored: frozenset[str] = frozenset()
    """Sandboxes whose pause is answered as done, and not done."""
    gone: frozenset[str] = frozenset()
    """Sandboxes that are listed until something is asked of them, and then gone."""
    rate_limit_at: int | None = None
    """Which request for a change, counted from 1, is told to come back later."""
    retry_after: int = 1
    """In how many seconds it may."""


@dataclass(frozen=True)
class Simulation:
    """How many sandboxes are pretended, and what becomes of them; equal seeds make equal ones."""

    sandboxes: int
    churn: float = 1.0
    """Percent of them that change by themselves in a second."""
    seed: int = 1
    cap: int | None = None
    """How many may run: a start or resume beyond it pauses those created first; None is no limit."""
    faults: Faults = Faults()

    def ids(self) -> tuple[str, ...]:
        """The ids of the sandboxes it begins with, newest first."""
        dice = Random(f"ids {self.seed}")  # noqa: S311 - nothing here is secret
        return tuple(new_id(dice) for _ in range(self.sandboxes))


def new_id(dice: Random) -> str:
    """An id that shows what it is of."""
    return f"sim-{dice.getrandbits(48):012x}"


def some_faults(ids: Sequence[str]) -> Faults:
    """A few of each fault, for trying: of 100 sandboxes four pauses fail, two are ignored and three are gone."""
    return Faults(
        pauses_fail=frozenset(ids[3::25]),
        pauses_ignored=frozenset(ids[7::50]),
        gone=frozenset(ids[11::33]),
        rate_limit_at=20,
        retry_after=2,
    )
