from dataclasses import dataclass
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.ages import seconds_since
from quarterdeck.fleet.filters import Filter, Grammar, Kind, Token, kept, parse

from .fakes import NOON, at


@dataclass(frozen=True)
class Row:
    id: str
    title: str
    status: str = "Running"
    quiet_since: datetime | None = None
    spent: float = 0.0
    orphan: bool = False

    def haystack(self, now: datetime) -> str:
        return f"{self.title}\n{self.status}".casefold()


GRAMMAR: Grammar[Row] = Grammar(
    {
        "status": Token(Kind.TEXT, lambda row, now: row.status, ""),
        "spec": Token(Kind.TEXT, lambda row, now: None, ""),
        "idle": Token(Kind.DURATION, lambda row, now: seconds_since(row.quiet_since, now), "", ("quiet",)),
        "cost": Token(Kind.NUMBER, lambda row, now: row.spent, ""),
        "orphan": Token(Kind.FLAG, lambda row, now: row.orphan, "", ("no-conversation",)),
    }
)
ROWS = [
    Row("1", "Fix Login bug", quiet_since=at(-3600), spent=2.5),
    Row("2", "Fix build", "Paused", spent=1.5),
    Row("3", "STRASSE", "Error", orphan=True),
    Row("4", "login: new", "Needs you", quiet_since=at(-60)),
]


def read(typed: str) -> Filter[Row]:
    return parse(typed, GRAMMAR, is_text=lambda word: any(word in row.haystack(NOON) for row in ROWS))


def found(typed: str) -> str:
    return "".join(row.id for row in kept(ROWS, read(typed), NOON))


@pytest.mark.parametrize(
    ("ids", "several"),
    [
        ("1234", [""]),
        ("1", ["fix login", '"login bug"', "idle>30m", "idle>=1h", "idle>59m59s", "cost>$2"]),
        ("12", ["fix", "cost>=1.5"]),
        ("14", ["LOGIN", "!status:paused,error"]),
        ("2", ["status:paused"]),
        ("23", ["status:paused,error"]),
        ("234", ["!idle>30m"]),
        ("24", ['status:paused,"needs you"']),
        ("3", ["straße", "orphan", "no-conversation"]),
        ("123", ["!login:"]),
        ("34", ["!fix", "cost<.5"]),
        ("4", ["login:", 'status:"needs you"', "idle<30m", "idle<=60s"]),
        ("", ['"bug login"']),
    ],
)
def test_what_a_filter_lets_through(ids: str, several: list[str]) -> None:
    for typed in several:
        assert found(typed) == ids, typed
        assert read(typed).problems == ()


HALF = ["!", '"', "status:", "!status:", "status:,", "idle>", "idle>=", "quiet>", "cost>"]


@pytest.mark.parametrize("typed", HALF)
def test_what_is_half_typed_is_no_condition_yet(typed: str) -> None:
    assert found(typed) == "1234"
    assert parse(typed, GRAMMAR) == Filter()


@pytest.mark.parametrize(
    "typed", ["idle>abc", "idle>3", "idle>1h3", "cost>$", "idle>-5m", "idle>30x", "idle>30m,1h", "cost>1m", "cost>two"]
)
def test_a_value_that_means_nothing_is_said_and_hides_nothing(typed: str) -> None:
    wanted = parse(typed, GRAMMAR)
    assert found(typed) == "1234"
    (problem,) = wanted.problems
    assert problem.endswith(f", not {typed.split('>')[1]}.")
    assert ("30m" in problem) is typed.startswith("idle")


NAMES = ["idel>30m", "stauts:paused", "!stauts:paused", "status>5", "cost:2"]


@pytest.mark.parametrize("typed", NAMES)
def test_a_name_that_means_nothing_is_said_and_hides_nothing(typed: str) -> None:
    (problem,) = read(typed).problems
    assert found(typed) == "1234"
    assert "is no token; quarterdeck help filters names them." in problem


@pytest.mark.parametrize("typed", [*HALF, '"half', *NAMES, "idle>abc"])
def test_a_script_is_told_of_everything_that_is_no_condition(typed: str) -> None:
    wanted = parse(f"fix {typed}", GRAMMAR, finished=True)
    assert (len(wanted.problems), len(wanted.terms)) == (1, 1)


WORDS = st.text(alphabet='abcß:!S "<>=', max_size=5) | st.sampled_from(["orphan", "!idle>30m", "status:run", "cost<2"])


@given(st.text(max_size=20) | st.lists(WORDS, max_size=4).map(" ".join))
def test_any_text_gives_some_of_the_rows_and_turned_round_the_others(typed: str) -> None:
    assert set(found(typed)) <= set("1234")
    parse(typed, GRAMMAR, finished=True)
    bare = "".join(typed.split()).replace('"', "").lstrip("!")
    if read(bare):
        assert sorted(found(bare) + found(f"!{bare}")) == sorted("1234")
