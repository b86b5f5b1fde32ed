"""Command and arguments of a stdio server: a pasted command line falls into its words."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from quarterdeck.settings import masks
from quarterdeck.tui import text
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput, abridged

EMPTY = Shown('""')
"""The line of an argument without any text."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class CommandLine:
    """A command line taken apart: assignments before the command, the command, and what follows it."""

    env: Mapping[str, str]
    command: str
    words: Sequence[str]


def shell_words(pasted: str) -> list[str]:
    """The words of one line as a shell splits them, a backslash at its end joining the next; other text by lines."""
    lines = [line for line in pasted.replace("\\\n", " ").splitlines() if line.strip()]
    if len(lines) != 1:
        return lines
    try:
        return shlex.split(lines[0])
    except ValueError:
        return lines


def command_line(pasted: str) -> CommandLine:
    """What a line for a shell starts, with which variables and arguments."""
    words = shell_words(pasted.strip().removeprefix("$ "))
    assigned = [_ASSIGNMENT.fullmatch(word) for word in words[:-1]]
    first = next((place for place, match in enumerate(assigned) if match is None), len(assigned))
    env = {match[1]: match[2] for match in assigned[:first] if match is not None}
    command, *others = words[first:] or [""]
    return CommandLine(env, command, others)


class CommandInput(LineInput):
    """The command; what follows its first word in a paste belongs to the arguments."""

    @dataclass
    class Followed(Message):
        """There was more than the command."""

        line: CommandLine

    def paste(self, pasted: str) -> None:
        """Take the command, and hand on what is around it."""
        line = command_line(pasted)
        super().paste(line.command)
        if line.words or line.env:
            self.post_message(self.Followed(line))

    def split(self) -> bool:
        """Take a typed command line apart as a pasted one; False where there is nothing to split."""
        line = command_line(self.value)
        if not line.words and not line.env:
            return False
        self.value = text.line(line.command)
        self.post_message(self.Followed(line))
        return True


class ArgumentsArea(TextArea):
    """Arguments, one a line; a secret one is masked, and a line left as it is stays the argument it was."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        lines = _lines(arguments)
        self._by_line = {EMPTY: "", **dict(zip(lines, arguments, strict=True))}
        self._hidden = _hidden(arguments)
        super().__init__("\n".join(lines), soft_wrap=False, tab_behavior="focus", compact=True)
        self.cursor_blink = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments as they stand."""
        lines = (line.strip() for line in self.text.splitlines())
        return tuple(self._by_line.get(line, line) for line in lines if line)

    @property
    def reveals(self) -> bool:
        """Whether an argument that was hidden would be shown, because the word before it tells of no secret now."""
        now = self.arguments
        return not self._hidden.isdisjoint(frozenset(now) - _hidden(now))

    def add(self, words: Sequence[str]) -> None:
        """Put words at the end, one a line."""
        before = self.text.rstrip("\n")
        self.text = "\n".join(([before] if before else []) + self._as_lines(words))
        self.move_cursor(self.document.end)

    def on_paste(self, event: events.Paste) -> None:
        """Split a pasted line as a shell does."""
        event.prevent_default()
        event.stop()
        self.replace("\n".join(self._as_lines(shell_words(event.text))), *self.selection)

    def _as_lines(self, words: Sequence[str]) -> list[str]:
        """A line for each word; of one that cannot stand in a line as it is, the argument is remembered."""
        lines = [abridged(word) or EMPTY for word in words]
        for line, word in zip(lines, words, strict=True):
            self._by_line.setdefault(line, word)
        return list(lines)


def _hidden(arguments: tuple[str, ...]) -> frozenset[str]:
    """The arguments that are not shown as they are."""
    shown = zip(arguments, masks.arguments(arguments), strict=True)
    return frozenset(argument for argument, masked in shown if masked != argument)


def _lines(arguments: tuple[str, ...]) -> list[str]:
    """A line for each argument; different ones that look alike get a number, so that none is taken for another."""
    by_line: dict[str, str] = {}
    lines: list[str] = []
    for argument, masked in zip(arguments, masks.arguments(arguments), strict=True):
        shown = abridged(masked) or EMPTY
        numbered = (f"{shown} ·{number}" for number in count(2))
        line = next(one for one in chain([shown], numbered) if by_line.get(one, argument) == argument)
        by_line[line] = argument
        lines.append(line)
    return lines
