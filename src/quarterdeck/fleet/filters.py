"""The filter that is typed over a list: words, `name:value`, `name>30m`, flags, and `!` to negate a condition."""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


class Searchable(Protocol):
    """A row that a filter can be applied to."""

    def haystack(self, now: datetime) -> str:
        """Return the text that a plain word is searched in."""
        ...

    @property
    def ids(self) -> Iterable[str]:
        """What a plain word finds by its beginning: anywhere in them, letters from a to f are found by chance."""
        ...


R = TypeVar("R", bound=Searchable)


class Kind(Enum):
    """What a condition compares."""

    WORD = "word"
    """A word, searched in all text of a row and at the beginning of its ids."""
    TEXT = "text"
    """`name:value`, compared without regard to case."""
    NUMBER = "number"
    """`name>value`, `<`, `>=`, `<=`."""
    DURATION = "duration"
    """The same for a duration in seconds, typed with the units s, m, h, d or w."""
    FLAG = "flag"
    """The name alone."""


_SIGNS = {Kind.TEXT: ":", Kind.NUMBER: ">", Kind.DURATION: ">", Kind.FLAG: ""}


class Token(NamedTuple, Generic[R]):
    """A property of a row that a filter can name."""

    kind: Kind
    of: Callable[[R, datetime], str | float | None]
    """Return the value of a row at a moment: a text, a number or a flag; None if it is not known."""
    help: str
    """A sentence for the reference."""
    also: tuple[str, ...] = ()
    """Alternative names."""


_ANYWHERE: Token[Any] = Token(Kind.WORD, lambda row, now: row.haystack(now), "Some text of the row.")
"""What a plain word stands for."""


@dataclass(frozen=True)
class Grammar(Generic[R]):
    """The tokens of a filter over one kind of row, by name."""

    tokens: Mapping[str, Token[R]]
    left_out: frozenset[str] = frozenset()
    """The typed beginnings of tokens that only a wider grammar has, by each of their names."""

    @property
    def beginnings(self) -> dict[str, str]:
        """The typed beginning of each token, by name."""
        return {name: f"{name}{_SIGNS[token.kind]}" for name, token in self.tokens.items()}

    @property
    def hint(self) -> str:
        """All tokens in one line, as an empty filter field shows them."""
        return "  ".join(self.beginnings.values())

    def without(self, *names: str) -> "Grammar[R]":
        """Return the same grammar without some tokens."""
        gone = {name: self.tokens[name] for name in names}
        spelt = (f"{each}{_SIGNS[token.kind]}" for name, token in gone.items() for each in (name, *token.also))
        return Grammar({name: token for name, token in self.tokens.items() if name not in names}, frozenset(spelt))

    def find(self, spelt: str) -> tuple[str, Token[R]]:
        """Return a token with its name, given one of its names; anything else is a plain word, without a name."""
        for name, token in self.tokens.items():
            if spelt == name or spelt in token.also:
                return name, token
        return "", _ANYWHERE


class Term(NamedTuple, Generic[R]):
    """One condition; its texts are case-folded."""

    name: str
    """The name of the token; empty for a plain word."""
    token: Token[R]
    texts: tuple[str, ...] = ()
    """The condition holds if one of these is found."""
    comparison: str = ""
    amount: float = 0.0
    inverted: bool = False

    @property
    def kind(self) -> Kind:
        """What it compares."""
        return self.token.kind

    def holds(self, row: R, now: datetime) -> bool:
        """Whether a row meets the condition."""
        value = self.token.of(row, now)
        if self.kind in (Kind.WORD, Kind.TEXT):
            text = str(value or "").casefold()
            found = any(wanted in text for wanted in self.texts)
            if self.kind is Kind.WORD and not found:
                found = any(each.casefold().startswith(self.texts) for each in row.ids)
        elif self.kind is Kind.FLAG:
            found = bool(value)
        else:
            found = value is not None and _COMPARISONS[self.comparison](float(value), self.amount)
        return found is not self.inverted


class Filter(NamedTuple, Generic[R]):
    """Conditions that must all hold; without conditions, every row matches."""

    terms: tuple[Term[R], ...] = ()
    problems: tuple[str, ...] = ()
    """A sentence for each token that makes no sense; it quotes the typed text raw."""

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(self, row: R, now: datetime) -> bool:
        """Whether a row meets all conditions."""
        return all(term.holds(row, now) for term in self.terms)


def kept(rows: Iterable[R], wanted: Filter[R], now: datetime) -> list[R]:
    """Return the rows that match, in their order."""
    return [row for row in rows if wanted.matches(row, now)]


# Parsing

_WORDS = r'(?:[^\s"]|"[^"]*"?)+'
_CONDITION = r"(?s)(\w+)(:|[<>]=?)(.*)"


def parse(
    typed: str, grammar: Grammar[R], *, finished: bool = False, is_text: Callable[[str], bool] = lambda word: False
) -> Filter[R]:
    """Parse a filter; never raises.

    Spaces separate conditions, except inside quotes; `status:paused,error` accepts either value; `!` negates a
    condition. An unfinished token (`!`, `status:`, `quiet>`) is not a condition yet. `finished` means that nothing more
    will be typed, as in a script: unfinished tokens are then problems. A token of an unknown name is one, unless it
    `is_text` of some row.
    """
    words = re.findall(_WORDS, typed.casefold())
    read = [_read(word, grammar, finished=finished, is_text=is_text) for word in words]
    terms = tuple(each for each in read if isinstance(each, Term))
    return Filter(terms, tuple(each for each in read if isinstance(each, str)))


def _read(typed: str, grammar: Grammar[R], *, finished: bool, is_text: Callable[[str], bool]) -> Term[R] | str | None:
    """Parse one word: returns a condition, a sentence that describes the problem, or None if it is unfinished."""
    bare = typed.removeprefix("!")
    inverted = bare != typed
    word = bare.replace('"', "")
    token = re.fullmatch(_CONDITION, word)
    spelt, sign, value = token.groups() if token is not None else (word, "", "")
    name, meant = grammar.find(spelt)
    kind = meant.kind
    term: Term[R] | None
    if sign == ":" and kind is Kind.TEXT:
        values = tuple(filter(None, value.split(",")))
        term = Term(name, meant, values, inverted=inverted) if values else None
    elif sign not in ("", ":") and kind in (Kind.NUMBER, Kind.DURATION):
        amount = quantity(value, kind)
        if value and amount is None:
            return f"Write {spelt}{sign}{example(kind)}, not {value}."  # short enough to fit beside the filter
        term = None if amount is None else Term(name, meant, (), sign, amount, inverted)
    elif not sign and kind is Kind.FLAG:
        term = Term(name, meant, inverted=inverted)
    elif finished and bare in grammar.left_out:
        return f'Only the deck knows {bare}; write "{bare}" to search for the word.'
    elif sign and f"{spelt}{sign[0]}".replace("<", ">") in grammar.left_out:  # `for<` and `for>=` begin as `for>` does
        return f"Only the deck knows {spelt}{sign}."
    elif sign and not is_text(word):
        return f"{spelt}{sign} is no token; quarterdeck help filters names them."
    else:
        term = Term("", _ANYWHERE, (word,), inverted=inverted) if word else None
    return f"{typed}: it is incomplete." if finished and (term is None or typed.count('"') % 2) else term


def unknown_texts(terms: Iterable[Term[R]], known: Iterable[str]) -> list[str]:
    """Return the texts of conditions that are in none of the known ones."""
    all_known = "\n".join(known).casefold()
    return [text for term in terms for text in term.texts if text not in all_known]


def with_statuses(
    words: str, grammar: Grammar[R], token: str, statuses: Collection[str], known: Iterable[str] = ()
) -> str:
    """Return the filter with its statuses replaced by these, or without any if there are none.

    Other `known` ones are left out even where their name has one of these in it, as "Sandbox error" has "Error".
    """
    names = tuple(f"{sign}{name}:" for name in (token, *grammar.tokens[token].also) for sign in ("", "!"))
    rest = [word for word in re.findall(_WORDS, words) if not word.casefold().startswith(names)]
    chosen = [status.casefold().replace('"', "") for status in statuses]
    others = [word for word in map(str.casefold, known) if any(each in word for each in chosen) and word not in chosen]
    for sign, several in (("", chosen), ("!", others)):
        if value := ",".join(several):
            rest.append(f'{sign}{token}:"{value}"' if " " in value else f"{sign}{token}:{value}")
    return " ".join(rest)


# Quantities as they are typed: `30m`, `1h30m`, `2d`; `1.5`, `$2`

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AMOUNT = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PART = rf"({_AMOUNT})([smhdw])"


def quantity(typed: str, kind: Kind) -> float | None:
    """Return the typed quantity, a duration in seconds; None if it is not valid."""
    if kind is Kind.NUMBER:
        return float(typed.removeprefix("$")) if re.fullmatch(rf"\$?{_AMOUNT}", typed) else None
    if not re.fullmatch(f"(?:{_PART})+", typed):
        return None
    return sum(float(amount) * _SECONDS[letter] for amount, letter in re.findall(_PART, typed))


def example(kind: Kind) -> str:
    """Return an example of a quantity."""
    return "30m, 2h or 1d" if kind is Kind.DURATION else "2 or 1.5"
