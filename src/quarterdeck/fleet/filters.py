"""A filter as it is typed over a list: words, `name:value` tokens, `!` before what must not be."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

R = TypeVar("R")


@dataclass(frozen=True)
class Term:
    """One condition; texts are folded to one case."""

    texts: tuple[str, ...]
    """It holds when one of these is found."""
    field: str | None = None
    """Where to look; None for all of a row's text."""
    inverted: bool = False


@dataclass(frozen=True)
class Filter:
    """Conditions that must all hold; one without conditions lets every row through."""

    terms: tuple[Term, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(self, row: R, text: Callable[[R], str], fields: Mapping[str, Callable[[R], str]]) -> bool:
        """Whether a row is let through.

        `text` gives all of a row's text, case folded; `fields` the text of one field each, in any case.
        """
        for term in self.terms:
            place = text(row) if term.field is None else fields[term.field](row).casefold()
            if any(wanted in place for wanted in term.texts) is term.inverted:
                return False
        return True


def parse(typed: str, fields: Collection[str] = ()) -> Filter:
    """Read what was typed: blanks separate conditions, `status:paused,error` asks for either, `!` turns one round.

    A token of a name that is not among `fields` is text like any other; one half typed (`!`, `status:`) is none yet.
    """
    terms = (_term(word, fields) for word in typed.casefold().split())
    return Filter(tuple(term for term in terms if term.texts))


def kept(
    rows: Iterable[R], wanted: Filter, text: Callable[[R], str], fields: Mapping[str, Callable[[R], str]]
) -> list[R]:
    """The rows let through, in their order; `text` and `fields` as `Filter.matches` has them."""
    return [row for row in rows if wanted.matches(row, text, fields)]


def _term(word: str, fields: Collection[str]) -> Term:
    bare = word.removeprefix("!")
    inverted = bare != word
    name, colon, value = bare.partition(":")
    if colon and name in fields:
        return Term(tuple(filter(None, value.split(","))), name, inverted)
    return Term((bare,) if bare else (), None, inverted)
