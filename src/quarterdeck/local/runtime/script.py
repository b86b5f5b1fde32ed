"""What simulated agents say and do, as a sequence of model answers.

All content is in `scenes.json`: for another answer, tool or failure, add an entry there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

from quarterdeck.local.store import Record

RISKS = ("LOW", "MEDIUM", "HIGH")
_ASIDE, _QUESTION, _FAILURE = 0.3, 0.6, 0.06
"""Probability that a run has an aside before a step, asks somebody, and fails at the end."""


@dataclass(frozen=True)
class Call:
    """One tool call, the seconds the tool takes, and its result; without an observation it fails."""

    tool: str
    action: Record
    kind: str = ""
    summary: str = ""
    risk: str = "UNKNOWN"
    seconds: float = 0.0
    observation: Record | None = None
    error: str = ""
    lines: int = 0
    """How many times the text of the observation is repeated, with the line number in it."""

    @property
    def observed(self) -> Record | None:
        """The result of the tool."""
        if self.observation is None or not self.lines:
            return self.observation
        (part,) = self.observation["content"]
        text = "".join(part["text"].format(line=line) for line in range(1, self.lines + 1))
        return {**self.observation, "content": [{**part, "text": text}]}


@dataclass(frozen=True)
class Answer:
    """One answer of a model: calls, or words that end the run, or an error."""

    text: str = ""
    reasoning: str = ""
    calls: Sequence[Call] = ()
    error: Sequence[str] = ()
    """Code and words of the error that ends the run."""


@dataclass(frozen=True)
class _Scenes:
    """All content; a run has an opening, middle and closing, with the others in between."""

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
    """Return the first message of a conversation with that title."""
    wish = "Send files again that did not arrive." if title.startswith("Conversation ") else f"{title}."
    return f"{wish}\n\nIt should go on working for those who use it now, and have a test."


def answers(rng: Random) -> Iterator[Answer]:
    """Yield the answers of a model: one run after another, each ending with words or an error."""
    while True:
        yield from SCENES.opening
        for answer in SCENES.middle:
            if rng.random() < _ASIDE:
                yield rng.choice(SCENES.asides)
            yield answer
        if rng.random() < _QUESTION:
            yield rng.choice(SCENES.questions)
        if rng.random() < _FAILURE:
            yield rng.choice(SCENES.failures)
        else:
            yield from SCENES.closing
            yield rng.choice(SCENES.endings)
