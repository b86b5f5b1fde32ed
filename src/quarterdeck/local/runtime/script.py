"""What simulated agents say and do, as the answers of their models one after the other.

What can happen stands in `scenes.json`: another answer, tool or failure is another entry there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

from quarterdeck.local.store import Record

RISKS = ("LOW", "MEDIUM", "HIGH")
_ASIDE, _QUESTION, _FAILURE = 0.3, 0.6, 0.06
"""How likely a run goes aside before a step, asks somebody, and fails at the end."""


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
    calls: Sequence[Call] = ()
    error: Sequence[str] = ()
    """Code and words of what ends the run."""


@dataclass(frozen=True)
class _Scenes:
    """All that can happen; a run is its opening, middle and closing with the others in between."""

    opening: Sequence[Answer]
    middle: Sequence[Answer]
    closing: Sequence[Answer]
    endings: Sequence[Answer]
    asides: Sequence[Answer]
    questions: Sequence[Answer]
    failures: Sequence[Answer]
    prompts: Sequence[str]


SCENES = TypeAdapter(_Scenes).validate_json(Path(__file__).with_name("scenes.json").read_bytes())


def first_prompt(title: str) -> str:
    """What a person began a conversation of that title with."""
    wish = "Send files again that did not arrive." if title.startswith("Conversation ") else f"{title}."
    return f"{wish}\n\nIt should go on working for those who use it now, and have a test."


def answers(dice: Random) -> Iterator[Answer]:
    """All that a model answers: one run after the other, each of which ends with words or an error."""
    while True:
        yield from SCENES.opening
        for answer in SCENES.middle:
            if dice.random() < _ASIDE:
                yield dice.choice(SCENES.asides)
            yield answer
        if dice.random() < _QUESTION:
            yield dice.choice(SCENES.questions)
        if dice.random() < _FAILURE:
            yield dice.choice(SCENES.failures)
        else:
            yield from SCENES.closing
            yield dice.choice(SCENES.endings)
