"""A filter as it is typed over a list: words, `name:value`, `name>30m`, bare flags, `!` before what must not be."""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_NOTHING: Mapping[str, Any] = {}


class Searchable(Protocol):
    """A row a filter can be laid over."""

    @property
    def haystack(self) -> str:
        """All of its text that a bare word looks into, case folded."""
        ...


R = TypeVar("R", bound=Searchable)


def haystack(*texts: str | None) -> str:
    """The text of a row that a bare word looks into."""
    return "\n".join(filter(None, texts)).casefold()


class Unit(Enum):
    """What a quantity is counted in."""

    DURATION = "duration"
    """Seconds; typed with the letters s, m, h, d or w."""
    NUMBER = "number"


class Measure(NamedTuple, Generic[R]):
    """A quantity of a row that `name>value` compares; durations in seconds, None where it is not known."""

    of: Callable[[R, datetime], float | None]
    unit: Unit = Unit.DURATION


class Grammar(NamedTuple, Generic[R]):
    """The tokens a filter over these rows knows, by name; each looks at a row as it is at a moment."""

    texts: Mapping[str, Callable[[R, datetime], str]] = _NOTHING
    """`name:value`; the text in any case."""
    measures: Mapping[str, Measure[R]] = _NOTHING
    """`name>value`, `<`, `>=`, `<=`."""
    flags: Mapping[str, Callable[[R, datetime], bool]] = _NOTHING
    """The bare name."""
    aliases: Mapping[str, str] = _NOTHING
    """Other spellings of some names, with the name each stands for."""
    help: Mapping[str, str] = _NOTHING
    """What each name asks about, a sentence for a reference."""

    @property
    def tokens(self) -> dict[str, str]:
        """Each name, with the beginning of its token."""
        return {
            **{name: f"{name}:" for name in self.texts},
            **{name: f"{name}>" for name in self.measures},
            **{name: name for name in self.flags},
        }

    @property
    def hint(self) -> str:
        """All tokens in one line, as an empty filter field shows them."""
        return "  ".join(self.tokens.values())

    def begins(self, word: str) -> bool:
        """Whether a token may come of a word that is being typed."""
        return any(name.startswith(word) for name in (*self.tokens, *self.aliases))


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

    def holds(self, row: R, now: datetime, grammar: Grammar[R]) -> bool:
        """Whether a row is as it asks for."""
        match self.kind:
            case Kind.WORD:
                found = self.texts[0] in row.haystack
            case Kind.TEXT:
                text = grammar.texts[self.name](row, now).casefold()
                found = any(wanted in text for wanted in self.texts)
            case Kind.MEASURE:
                value = grammar.measures[self.name].of(row, now)
                found = value is not None and _COMPARISONS[self.comparison](value, self.value)
            case Kind.FLAG:
                found = grammar.flags[self.name](row, now)
        return found is not self.inverted


class Filter(NamedTuple):
    """Conditions that must all hold; one without conditions lets every row through."""

    terms: tuple[Term, ...] = ()
    problems: tuple[str, ...] = ()
    """A sentence for each token that is no condition because it makes no sense; what was typed is in it, raw."""

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(self, row: R, now: datetime, grammar: Grammar[R]) -> bool:
        """Whether a row is let through."""
        return all(term.holds(row, now, grammar) for term in self.terms)


def kept(rows: Iterable[R], wanted: Filter, now: datetime, grammar: Grammar[R]) -> list[R]:
    """The rows let through, in their order."""
    rows = list(rows)
    through = [row for row in rows if wanted.matches(row, now, grammar)]
    if not through and any(term.budding for term in wanted.terms):
        grown = Filter(tuple(term for term in wanted.terms if not term.budding))
        return [row for row in rows if grown.matches(row, now, grammar)]
    return through


# Reading what was typed

_WORDS = r'(?:[^\s"]|"[^"]*"?)+'
_CONDITION = r"(?s)(\w+)(:|[<>]=?)(.*)"


def parse(typed: str, grammar: Grammar[R], *, finished: bool = False) -> Filter:
    """Read what was typed; it never raises.

    Blanks separate conditions, a quoted blank does not; `status:paused,error` asks for either, `!` turns one round.
    What is half typed (`!`, `status:`, `quiet>3`) is no condition yet. `finished` says that no more will be typed, as
    in a script: what is half typed, and a token of an unknown name, are problems then, never taken for no condition.
    """
    words = re.findall(_WORDS, typed.casefold())
    last = None if finished or typed[-1:].isspace() else len(words) - 1
    read = [_read(word, grammar, finished=finished, last=at == last) for at, word in enumerate(words)]
    terms = tuple(each for each in read if isinstance(each, Term))
    return Filter(terms, tuple(each for each in read if isinstance(each, str)))


def _read(typed: str, grammar: Grammar[R], *, finished: bool, last: bool) -> Term | str | None:
    """The condition a word is, the sentence that says what is wrong with it, or None while it is none yet."""
    bare = typed.removeprefix("!")
    inverted = bare != typed
    word = bare.replace('"', "")
    token = re.fullmatch(_CONDITION, word)
    spelt, sign, value = token.groups() if token is not None else (word, "", "")
    name = grammar.aliases.get(spelt, spelt)
    term: Term | str | None
    if sign == ":" and name in grammar.texts:
        values = tuple(filter(None, value.split(",")))
        term = Term(Kind.TEXT, name, values, inverted=inverted) if values else None
    elif sign not in ("", ":") and name in grammar.measures:
        try:
            amount = quantity(value, grammar.measures[name].unit)
        except ValueError:
            unit = grammar.measures[name].unit
            return f"{typed}: {value} is no {unit.value}; write it as {spelt}{sign}{example(unit)}."
        term = None if amount is None else Term(Kind.MEASURE, name, (), sign, amount, inverted)
    elif not sign and name in grammar.flags:
        term = Term(Kind.FLAG, name, inverted=inverted)
    elif finished and sign:
        return f"{typed}: there is no token {spelt}{sign}; there are {grammar.hint}"
    else:
        budding = last and grammar.begins(word)
        term = Term(Kind.WORD, texts=(word,), inverted=inverted, budding=budding) if word else None
    return f"{typed}: something is missing at its end." if term is None and finished else term


def statuses_in(words: str, token: str) -> tuple[str, ...]:
    """The values of a status token in a filter as it was typed, case folded."""
    found = [word for word in re.findall(_WORDS, words.casefold()) if word.startswith(f"{token}:")]
    values = [value for word in found for value in word.removeprefix(f"{token}:").replace('"', "").split(",")]
    return tuple(value for value in values if value)


def with_statuses(words: str, token: str, statuses: Collection[str]) -> str:
    """A filter with these statuses in place of the ones it asks for; with none it asks for no status."""
    rest = [word for word in re.findall(_WORDS, words) if not word.casefold().startswith(f"{token}:")]
    if statuses:
        value = ",".join(status.casefold().replace('"', "") for status in statuses)
        rest.append(f'{token}:"{value}"' if " " in value else f"{token}:{value}")
    return " ".join(rest)


# Quantities as they are typed: `30m`, `1h30m`, `2d`; `1.5`, `$2`

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AMOUNT = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PART = rf"({_AMOUNT})([smhdw])"
_DURATION = rf"(?:{_AMOUNT}[smhdw])+"
_HALF_DURATION = rf"(?:{_AMOUNT}[smhdw])*(?:{_AMOUNT}|\.)?"
_NUMBER = rf"\$?({_AMOUNT})"
_HALF_NUMBER = r"\$?\.?"


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
