"""A filter as it is typed over a list: words, `name:value`, `name>30m`, bare flags, `!` before what must not be."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AMOUNT = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PART = rf"({_AMOUNT})([smhdw])"
_DURATION = rf"(?:{_AMOUNT}[smhdw])+"
_HALF_DURATION = rf"(?:{_AMOUNT}[smhdw])*(?:{_AMOUNT}|\.)?"
_NUMBER = rf"\$?({_AMOUNT})"
_HALF_NUMBER = r"\$?\.?"


class Unit(Enum):
    """What a quantity is counted in."""

    DURATION = "duration"
    """Seconds; typed with the letters s, m, h, d or w."""
    NUMBER = "number"


def quantity(typed: str, unit: Unit) -> float | None:
    """The quantity typed; None while it is half typed, as a duration without its letter is; ValueError for none."""
    if unit is Unit.NUMBER:
        if (number := re.fullmatch(_NUMBER, typed)) is not None:
            return float(number[1])
        half = _HALF_NUMBER
    else:
        if re.fullmatch(_DURATION, typed):
            return sum(float(amount) * _SECONDS[letter] for amount, letter in re.findall(_PART, typed))
        half = _HALF_DURATION
    if re.fullmatch(half, typed):
        return None
    raise ValueError(typed)


def example(unit: Unit) -> str:
    """How to write one."""
    return "30m, 2h or 1d" if unit is Unit.DURATION else "2 or 1.5"


class Searchable(Protocol):
    """A row a filter can be laid over."""

    @property
    def haystack(self) -> str:
        """All of its text that a bare word looks into, case folded."""
        ...


R = TypeVar("R", bound=Searchable)
Test = Callable[[R], bool]
_NO_TOKENS: Mapping[str, Any] = {}


class Measure(NamedTuple, Generic[R]):
    """A quantity of a row that `name>value` compares; durations in seconds, None where it is not known."""

    of: Callable[[R, datetime], float | None]
    unit: Unit = Unit.DURATION


class Grammar(NamedTuple, Generic[R]):
    """The tokens a filter over these rows knows, by name; each looks at a row as it is at a moment."""

    texts: Mapping[str, Callable[[R, datetime], str]] = _NO_TOKENS
    """`name:value`; the text in any case."""
    measures: Mapping[str, Measure[R]] = _NO_TOKENS
    """`name>value`, `<`, `>=`, `<=`."""
    flags: Mapping[str, Callable[[R, datetime], bool]] = _NO_TOKENS
    """The bare name."""

    @property
    def hint(self) -> str:
        """All tokens in one line, as an empty filter field shows them."""
        return "  ".join([*(f"{name}:" for name in self.texts), *(f"{name}>" for name in self.measures), *self.flags])


class Kind(Enum):
    """What a condition looks at."""

    WORD = "word"
    TEXT = "text"
    MEASURE = "measure"
    FLAG = "flag"


class Term(NamedTuple):
    """One condition; texts are folded to one case."""

    kind: Kind
    name: str = ""
    """The token's; empty for a word over all text."""
    texts: tuple[str, ...] = ()
    """It holds when one of these is found."""
    comparison: str = ""
    value: float = 0.0
    inverted: bool = False
    budding: bool = False
    """A word that is being typed and may yet become a token: it is no condition where it lets no row through."""


class Filter(NamedTuple):
    """Conditions that must all hold; one without conditions lets every row through."""

    terms: tuple[Term, ...] = ()
    problems: tuple[str, ...] = ()
    """A sentence for each token that is no condition because it makes no sense; what was typed is in it, raw."""

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(self, row: R, now: datetime, grammar: Grammar[R]) -> bool:
        """Whether a row is let through; for many rows `kept` is quicker."""
        return all(_test(term, now, grammar)(row) for term in self.terms)


def parse(typed: str, grammar: Grammar[R], *, finished: bool = False) -> Filter:
    """Read what was typed; it never raises.

    Blanks separate conditions, a quoted blank does not; `status:paused,error` asks for either, `!` turns one round.
    What is half typed (`!`, `status:`, `idle>3`) is no condition yet. `finished` says that no more will be typed, as in
    a script: what is half typed, and a token of an unknown name, are problems then, never taken for no condition.
    """
    words = re.findall(_WORDS, typed.casefold())
    last = None if finished or typed[-1:].isspace() else len(words) - 1
    read = [_read(word, grammar, finished=finished, last=at == last) for at, word in enumerate(words)]
    terms = tuple(each for each in read if isinstance(each, Term))
    return Filter(terms, tuple(each for each in read if isinstance(each, str)))


def kept(rows: Iterable[R], wanted: Filter, now: datetime, grammar: Grammar[R]) -> list[R]:
    """The rows let through, in their order."""
    rows = list(rows)
    through = _through(rows, wanted.terms, now, grammar)
    if not through and any(term.budding for term in wanted.terms):
        return _through(rows, [term for term in wanted.terms if not term.budding], now, grammar)
    return through


def _through(rows: list[R], terms: Iterable[Term], now: datetime, grammar: Grammar[R]) -> list[R]:
    for term in sorted(terms, key=_price):
        test = _test(term, now, grammar)
        rows = [row for row in rows if test(row)]
    return rows


def _price(term: Term) -> bool:
    """The cheap conditions go first: the order makes no difference to what is let through."""
    return term.kind is not Kind.WORD


# Reading

_WORDS = r'(?:[^\s"]|"[^"]*"?)+'
_CONDITION = r"(?s)(\w+)(:|[<>]=?)(.*)"


def _read(typed: str, grammar: Grammar[R], *, finished: bool, last: bool) -> Term | str | None:
    """The condition a word is, the sentence that says what is wrong with it, or None while it is none yet."""
    bare = typed.removeprefix("!")
    inverted = bare != typed
    word = bare.replace('"', "")
    term: Term | str | None
    if (token := re.fullmatch(_CONDITION, word)) is not None and token[2] == ":" and token[1] in grammar.texts:
        values = tuple(filter(None, token[3].split(",")))
        term = Term(Kind.TEXT, token[1], values, inverted=inverted) if values else None
    elif token is not None and token[2] != ":" and token[1] in grammar.measures:
        term = _measured(typed, token, grammar.measures[token[1]].unit, inverted=inverted)
    elif word in grammar.flags:
        term = Term(Kind.FLAG, word, inverted=inverted)
    elif finished and token is not None:
        return f"{typed}: there is no token {token[1]}{token[2]}; there are {grammar.hint}"
    else:
        budding = last and any(name.startswith(word) for name in _names(grammar))
        term = Term(Kind.WORD, texts=(word,), inverted=inverted, budding=budding) if word else None
    return f"{typed}: something is missing at its end." if term is None and finished else term


def _measured(typed: str, token: re.Match[str], unit: Unit, *, inverted: bool) -> Term | str | None:
    name, comparison, amount = token.groups()
    try:
        value = quantity(amount, unit)
    except ValueError:
        return f"{typed}: {amount} is no {unit.value}; write it as {name}{comparison}{example(unit)}."
    if value is None:
        return None
    return Term(Kind.MEASURE, name, comparison=comparison, value=value, inverted=inverted)


def _names(grammar: Grammar[R]) -> Iterable[str]:
    return (*grammar.texts, *grammar.measures, *grammar.flags)


# Testing


def _test(term: Term, now: datetime, grammar: Grammar[R]) -> Test[R]:
    """What tells of one row whether a condition holds."""
    if term.kind is Kind.WORD:
        return _has_word(term.texts[0], inverted=term.inverted)
    if term.kind is Kind.TEXT:
        return _has_text(term, now, grammar.texts[term.name])
    if term.kind is Kind.MEASURE:
        return _measures(term, now, grammar.measures[term.name])
    flag = grammar.flags[term.name]
    return lambda row: flag(row, now) is not term.inverted


def _has_word(word: str, *, inverted: bool) -> Test[R]:
    if inverted:
        return lambda row: word not in row.haystack
    return lambda row: word in row.haystack


def _has_text(term: Term, now: datetime, text: Callable[[R, datetime], str]) -> Test[R]:
    known: dict[str, bool] = {}
    """Most rows share their few words: each is looked into once."""

    def test(row: R) -> bool:
        place = text(row, now)
        found = known.get(place)
        if found is None:
            folded = place.casefold()
            found = known[place] = any(wanted in folded for wanted in term.texts) is not term.inverted
        return found

    return test


def _measures(term: Term, now: datetime, measure: Measure[R]) -> Test[R]:
    holds, of, wanted, inverted = COMPARISONS[term.comparison], measure.of, term.value, term.inverted

    def test(row: R) -> bool:
        value = of(row, now)
        return (value is not None and holds(value, wanted)) is not inverted

    return test
