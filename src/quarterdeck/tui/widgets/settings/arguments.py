"""Command and arguments of a stdio server: a pasted command line falls into its words."""

import shlex
from dataclasses import dataclass
from itertools import chain, count

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from quarterdeck.draft import masks
from quarterdeck.tui import text
from quarterdeck.tui.widgets.settings.line_input import LineInput


def shell_words(pasted: str) -> list[str]:
    """The words of one pasted line as a shell splits them; other text line by line."""
    lines = [line for line in pasted.splitlines() if line.strip()]
    if len(lines) != 1:
        return lines
    try:
        return shlex.split(lines[0])
    except ValueError:
        return lines


class CommandInput(LineInput):
    """The command; what follows its first word in a paste belongs to the arguments."""

    @dataclass
    class Followed(Message):
        """A paste had more than the command."""

        words: list[str]

    def paste(self, pasted: str) -> None:
        """Take the first word, and hand on the others."""
        first, *others = shell_words(pasted) or [""]
        super().paste(first)
        if others:
            self.post_message(self.Followed(others))


class ArgumentsArea(TextArea):
    """Arguments, one a line; a secret one is masked, and a line left as it is stays the argument it was."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        lines = _lines(arguments)
        self._by_line = dict(zip(lines, arguments, strict=True))
        super().__init__("\n".join(lines), soft_wrap=False, tab_behavior="focus", compact=True)
        self.cursor_blink = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments as they stand."""
        lines = (line.strip() for line in self.text.splitlines())
        return tuple(self._by_line.get(line, line) for line in lines if line)

    def add(self, words: list[str]) -> None:
        """Put words at the end, one a line."""
        before = self.text.rstrip("\n")
        self.text = "\n".join(([before] if before else []) + words)
        self.move_cursor(self.document.end)

    def on_paste(self, event: events.Paste) -> None:
        """Split a pasted line as a shell does."""
        event.prevent_default()
        event.stop()
        words = [text.line(word) for word in shell_words(event.text)]
        self.replace("\n".join(words), *self.selection)


def _lines(arguments: tuple[str, ...]) -> list[str]:
    """A line for each argument; different ones that look alike get a number, so that none is taken for another."""
    by_line: dict[str, str] = {}
    lines: list[str] = []
    for argument, masked in zip(arguments, masks.arguments(arguments), strict=True):
        shown = text.line(masked)
        numbered = (f"{shown} ·{number}" for number in count(2))
        line = next(one for one in chain([shown], numbered) if by_line.get(one, argument) == argument)
        by_line[line] = argument
        lines.append(line)
    return lines
