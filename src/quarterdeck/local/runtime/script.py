"""What simulated agents say and do, as the answers of their models one after the other.

What can happen stands in `scenes.json`: another answer, tool or failure is another entry there.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from quarterdeck.local.store import Record

RISKS = ("LOW", "MEDIUM", "HIGH")
_ASIDE, _QUESTION, _FAILURE, _REPEATS = 0.3, 0.6, 0.06, 0.03
"""How likely a run goes aside before a step, asks somebody, fails at the end, or does the same again and again."""


@dataclass(frozen=True)
class Call:
    """One tool call, how many seconds the tool takes, and what it answers; without an observation it fails."""

    tool: str
    action: Record
    kind: str = ""
    summary: str = ""
    risk: str = "UNKNOWN"
    seconds: float = 0.0
    observation: Record | None = None
    error: str = ""
    lines: int = 0
    """How many times the text of the observation comes, with the number of the line in it."""

    @property
    def arguments(self) -> str:
        """Its arguments as a model writes them."""
        return json.dumps({**self.action, "security_risk": self.risk, "summary": self.summary})

    @property
    def observed(self) -> Record | None:
        """What the tool answers."""
        if self.observation is None or not self.lines:
            return self.observation
        (part,) = self.observation["content"]
        text = "".join(part["text"].format(line=line) for line in range(1, self.lines + 1))
        return {**self.observation, "content": [{**part, "text": text}]}


@dataclass(frozen=True)
class Answer:
    """One answer of a model: calls, or words that end the run; or what goes wrong instead."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    error: Sequence[str] | None = None
    """Code and words of what ends the run."""
    summarised: str = ""
    """What stands for the older events from now on; asking for it is no answer to the person."""
    stuck: bool = False


def _read(members: Record) -> Answer:
    calls: Sequence[Record] = members.pop("calls", ())
    return Answer(**members, calls=tuple(Call(**call) for call in calls))


_SCENES = json.loads(Path(__file__).with_name("scenes.json").read_text(encoding="utf-8"))
_PROMPTS = _SCENES.pop("prompts")
_ANSWERS: Mapping[str, Sequence[Answer]] = {name: tuple(map(_read, answers)) for name, answers in _SCENES.items()}


def first_prompt(title: str) -> str:
    """What a person began a conversation of that title with."""
    wish = "Send files again that did not arrive." if title.startswith("Conversation ") else f"{title}."
    return f"{wish}\n\nIt should go on working for those who use it now, and have a test."


def next_prompt(dice: Random) -> str:
    """What a person goes on with."""
    return str(dice.choice(_PROMPTS))


def one_of(dice: Random, scenes: str) -> Answer:
    """One of the answers of that kind."""
    return dice.choice(_ANSWERS[scenes])


def answers(dice: Random) -> Iterator[Answer]:
    """All that a model answers: one run after the other, each of which ends with words or an error."""
    while True:
        yield from _ANSWERS["opening"]
        for answer in _ANSWERS["middle"]:
            if dice.random() < _ASIDE:
                yield one_of(dice, "asides")
            yield answer
        if dice.random() < _QUESTION:
            yield one_of(dice, "questions")
        fate = dice.random()
        if fate < _FAILURE:
            yield one_of(dice, "failures")
        elif fate < _FAILURE + _REPEATS:
            yield one_of(dice, "repeated")
        else:
            yield from _ANSWERS["closing"]
            yield one_of(dice, "endings")
