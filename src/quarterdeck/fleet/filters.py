"""A filter as it is typed over a list: words, `name:value`, `name>30m`, bare flags, `!` before what must not be."""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeVar

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


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


class Kind(Enum):
    """What a condition looks at."""

    WORD = "word"
    """All text of a row."""
    TEXT = "text"
    """`name:value`; a text in any case."""
    NUMBER = "number"
    """`name>value`, `<`, `>=`, `<=`."""
    DURATION = "duration"
    """The same with seconds, typed with the letters s, m, h, d or w."""
    FLAG = "flag"
    """The bare name."""


_SIGNS = {Kind.TEXT: ":", Kind.NUMBER: ">", Kind.DURATION: ">", Kind.FLAG: ""}


class Token(NamedTuple, Generic[R]):
    """Something about a row that a filter can ask for by its name."""

    kind: Kind
    of: Callable[[R, datetime], str | float | None]
    """What a row has of it at a moment: a text, an amount or a yes or no; None where that is not known."""
    help: str
    """What it asks about, a sentence for a reference."""
    also: tuple[str, ...] = ()
    """Other names for it."""


@dataclass(frozen=True)
class Grammar(Generic[R]):
    """The tokens a filter over these rows knows, by name."""

    tokens: Mapping[str, Token[R]]

    @property
    def beginnings(self) -> dict[str, str]:
        """Each name, with the beginning of its token."""
        return {name: f"{name}{_SIGNS[token.kind]}" for name, token in self.tokens.items()}

    @property
    def hint(self) -> str:
        """All tokens in one line, as an empty filter field shows them."""
        return "  ".join(self.beginnings.values())

    def without(self, *names: str) -> "Grammar[R]":
        """The same without some tokens."""
        return Grammar({name: token for name, token in self.tokens.items() if name not in names})

    def find(self, spelt: str) -> tuple[str, Kind]:
        """The name and kind of a token by any of its names; what is none is a word."""
        for name, token in self.tokens.items():
            if spelt == name or spelt in token.also:
                return name, token.kind
        return "", Kind.WORD


class Term(NamedTuple):
    """One condition; texts are folded to one case."""

    kind: Kind
    name: str = ""
    """The token's; empty for a word over all text."""
    texts: tuple[str, ...] = ()
    """It holds when one of these is found."""
    comparison: str = ""
    amount: float = 0.0
    inverted: bool = False

    def holds(self, row: R, now: datetime, grammar: Grammar[R]) -> bool:
        """Whether a row is as it asks for."""
        if self.kind is Kind.WORD:
            return (self.texts[0] in row.haystack) is not self.inverted
        value = grammar.tokens[self.name].of(row, now)
        if self.kind is Kind.TEXT:
            text = str(value or "").casefold()
            found = any(wanted in text for wanted in self.texts)
        elif self.kind is Kind.FLAG:
            found = bool(value)
        else:
            found = value is not None and _COMPARISONS[self.comparison](float(value), self.amount)
        return found is not self.inverted


class Filter(NamedTuple):
    """Conditions that must all hold; one without conditions lets every row through."""

    terms: tuple[Term, ...] = ()
    problems: tuple[str, ...] = ()
    """A sentence for each token that is no condition because it makes no sense; what was typed is in it, raw."""

    def __bool__(self) -> bool:
        return bool(self.terms)

    def values_of(self, name: str) -> tuple[str, ...]:
        """The texts that a token may have, case folded."""
        return tuple(text for term in self.terms if term.name == name and not term.inverted for text in term.texts)

    def matches(self, row: R, now: datetime, grammar: Grammar[R]) -> bool:
        """Whether a row is let through."""
        return all(term.holds(row, now, grammar) for term in self.terms)


def kept(rows: Iterable[R], wanted: Filter, now: datetime, grammar: Grammar[R]) -> list[R]:
    """The rows let through, in their order."""
    return [row for row in rows if wanted.matches(row, now, grammar)]


# Reading what was typed

_WORDS = r'(?:[^\s"]|"[^"]*"?)+'
_CONDITION = r"(?s)(\w+)(:|[<>]=?)(.*)"


def parse(typed: str, grammar: Grammar[R], *, finished: bool = False) -> Filter:
    """Read what was typed; it never raises.

    Blanks separate conditions, a quoted blank does not; `status:paused,error` asks for either, `!` turns one round.
    What ends too early (`!`, `status:`, `quiet>`) is no condition yet. `finished` says that no more will be typed, as
    in a script: what is half typed, and a token of an unknown name, are problems then, never taken for no condition.
    """
    read = [_read(word, grammar, finished=finished) for word in re.findall(_WORDS, typed.casefold())]
    terms = tuple(each for each in read if isinstance(each, Term))
    return Filter(terms, tuple(each for each in read if isinstance(each, str)))


def _read(typed: str, grammar: Grammar[R], *, finished: bool) -> Term | str | None:
    """The condition a word is, the sentence that says what is wrong with it, or None while it is none yet."""
    bare = typed.removeprefix("!")
    inverted = bare != typed
    word = bare.replace('"', "")
    token = re.fullmatch(_CONDITION, word)
    spelt, sign, value = token.groups() if token is not None else (word, "", "")
    name, kind = grammar.find(spelt)
    term: Term | None
    if sign == ":" and kind is Kind.TEXT:
        values = tuple(filter(None, value.split(",")))
        term = Term(kind, name, values, inverted=inverted) if values else None
    elif sign not in ("", ":") and kind in (Kind.NUMBER, Kind.DURATION):
        amount = quantity(value, kind)
        if value and amount is None:
            return f"write {spelt}{sign}{example(kind)}, not {value}."  # so short that it fits beside the filter
        term = None if amount is None else Term(kind, name, (), sign, amount, inverted)
    elif not sign and kind is Kind.FLAG:
        term = Term(kind, name, inverted=inverted)
    elif finished and sign:
        return f"{typed}: there is no token {spelt}{sign}; there are {grammar.hint}"
    else:
        term = Term(Kind.WORD, texts=(word,), inverted=inverted) if word else None
    return f"{typed}: something is missing at its end." if term is None and finished else term


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


def quantity(typed: str, kind: Kind) -> float | None:
    """The quantity typed, a duration in seconds; None for what is none."""
    if kind is Kind.NUMBER:
        return float(typed.removeprefix("$")) if re.fullmatch(rf"\$?{_AMOUNT}", typed) else None
    if not re.fullmatch(f"(?:{_PART})+", typed):
        return None
    return sum(float(amount) * _SECONDS[letter] for amount, letter in re.findall(_PART, typed))


def example(kind: Kind) -> str:
    """How to write one."""
    return "30m, 2h or 1d" if kind is Kind.DURATION else "2 or 1.5"
