"""What a command will do to several rows: taken when the key is pressed, so that it acts on what was seen then."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from quarterdeck.fleet.records import Identified

R = TypeVar("R", bound=Identified)


class Named(Identified, Protocol):
    """A row that a question can name to a person."""

    @property
    def short_id(self) -> str:
        """The beginning of its id."""
        ...

    @property
    def name(self) -> str:
        """What it is about, raw; empty where there is nothing to say."""
        ...

    @property
    def spent(self) -> float:
        """US dollars so far."""
        ...


N = TypeVar("N", bound=Named)


@dataclass(frozen=True)
class Plan(Generic[R]):
    """The rows a command is for, and those it leaves out, each with the reason."""

    rows: tuple[R, ...]
    skipped: tuple[tuple[R, str], ...] = ()
    hidden: tuple[R, ...] = ()
    """Rows it could be done to, marked, but out of sight behind the filter: left alone unless that is asked for."""

    def with_hidden(self) -> "Plan[R]":
        """The plan that includes the rows out of sight."""
        return Plan(self.rows + self.hidden, self.skipped)


def plan(rows: Iterable[R], why_not: Callable[[R], str | None], hidden: Collection[str] = ()) -> Plan[R]:
    """Sort rows into those a command can be done to, those it can't, and those of the `hidden` ids that it could."""
    done, skipped, out_of_sight = [], [], []
    for row in rows:
        reason = why_not(row)
        if reason is not None:
            skipped.append((row, reason))
        elif row.id in hidden:
            out_of_sight.append(row)
        else:
            done.append(row)
    return Plan(tuple(done), tuple(skipped), tuple(out_of_sight))
