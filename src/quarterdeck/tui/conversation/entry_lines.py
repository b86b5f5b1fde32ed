"""One entry of a conversation as lines: the time, the sender or tool, then the text in a column of its own."""

from datetime import datetime
from typing import NamedTuple

from quarterdeck.fleet.ages import stopwatch
from quarterdeck.fleet.conversations import ConversationWord
from quarterdeck.fleet.entries import Edit, Entry, EntryKind, Outcome
from quarterdeck.fleet.transcript import STREAMED
from quarterdeck.settings.words import counted
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.conversation.markdown import markdown_lines, plain_lines
from quarterdeck.tui.glyphs import glyph
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import cell_length, clip, wrap

FOLDED = 12
"""Lines of an output that are shown while it is folded."""
FOLDED_MESSAGE = 60
"""The same for a message."""
AROUND = 2
"""Unchanged lines shown around a change."""
STREAMED_TAIL = 3_000
"""Characters of a streamed answer that are laid out, because that happens ten times a second."""
TIME = 6
WHO = 8
"""Cells for the sender."""
TOOL = 14
"""Cells for the name of a tool."""
BODY = 9
"""Indentation of the lines below a tool's first line."""
RISKS = {"HIGH": Tone.BAD, "MEDIUM": Tone.WARN}
CHANGES = {"+": Tone.GOOD, "-": Tone.BAD}
TASK_SIGNS = {"done": "[x]", "in_progress": "[>]"}


class Layout(NamedTuple):
    """How an entry is laid out."""

    width: int
    asked: bool
    """Whether a person is asked about the actions without a result."""
    reached: bool
    """Whether the agent server is reached; without it, nothing is known to be running."""
    unfolded: bool

    def lines(self, entry: Entry, at: datetime | None) -> list[Cell]:
        """Return all lines of an entry; `at` is its local time."""
        time = Shown(f"{at:%H:%M}".ljust(TIME) if at is not None else " " * TIME)
        match entry.kind:
            case EntryKind.PERSON | EntryKind.AGENT:
                return self._message(entry, time)
            case EntryKind.TOOL:
                return self._tool(entry, time)
            case EntryKind.ERROR:
                head = ((time, Tone.MUTED), glyph(Outcome.FAILED), (_after(entry.title), Tone.BAD))
                return [head, *_set_in(self._plain(entry.text, Tone.BAD))]
            case _:
                return self._quiet(entry, time)

    def _message(self, entry: Entry, time: Shown) -> list[Cell]:
        is_person, width = entry.kind is EntryKind.PERSON, self.width - TIME - WHO
        body = [] if is_person else self._thought(entry.thought, width)
        if entry.id == STREAMED:
            before = max(len(entry.text) - STREAMED_TAIL, 0)
            body += [cell(f"… {before:,} characters before", Tone.MUTED)] if before else []
            body += plain_lines(text.whole(entry.text[before:]), width) if entry.text else []
        elif is_person:  # as it was typed: `__init__.py` and `*.py` are no emphasis
            body += plain_lines(text.whole(entry.text.strip("\n")), width) if entry.text else []
        else:
            body += markdown_lines(entry.text, width)
        if is_person and entry.title:
            body.append(cell(entry.title, Tone.WARN))
        first, *rest = self._folded(body, FOLDED_MESSAGE) or [cell("(empty)", Tone.MUTED)]
        who = Shown(f"{entry.who:<{WHO}}"), Tone.STRONG if is_person else Tone.KEY
        return [((time, Tone.MUTED), who, *first), *_set_in(rest, TIME + WHO)]

    def _thought(self, thought: str, width: int) -> list[Cell]:
        if thought and self.unfolded:
            return plain_lines(text.whole(thought), width, Tone.MUTED)
        return [cell(f"thought {counted(len(thought.split()), 'word')}, enter", Tone.MUTED)] if thought else []

    def _tool(self, entry: Entry, time: Shown) -> list[Cell]:
        said: list[Cell] = []
        if entry.said:
            words = entry._replace(kind=EntryKind.AGENT, who="agent", text=entry.said, thought="")
            said = self._message(words, time)
        unknown = entry.outcome in (Outcome.OPEN, Outcome.RUNS_ON) and not self.reached
        state: str = EntryKind.QUIET if unknown else entry.outcome or EntryKind.QUIET
        if self.asked and entry.outcome is Outcome.OPEN:
            state = ConversationWord.NEEDS_YOU
        right = self._right(entry)
        room = self.width - TIME - 1 - TOOL - 2 - cell_length(right)
        title, cells = clip(text.line(entry.title or entry.summary), max(room, WHO))
        name, named = clip(text.line(entry.who), TOOL)
        head: Cell = (
            (time, Tone.MUTED),
            glyph(state),
            (Shown(f" {name}{' ' * (TOOL - named)} "), Tone.MUTED),
            (Shown(title + " " * (room - cells)), Tone.PLAIN),
            *right,
        )
        body = self._whole_action(entry) if self.unfolded else self._thought(entry.thought, self.width - BODY)
        body += [
            ((Shown(f"{TASK_SIGNS.get(each.status, '[ ]')} "), Tone.MUTED), (text.line(each.title), Tone.PLAIN))
            for each in entry.tasks
        ]
        body += self._edit(entry.edit) if entry.edit is not None else []
        if not (entry.tasks and entry.outcome is Outcome.DONE):
            body += self._plain(entry.text.rstrip("\n"))
        return [*said, head, *_set_in(self._folded(body, FOLDED))]

    def _whole_action(self, entry: Entry) -> list[Cell]:
        """Return what the first line may have cut off, and the reason for the action."""
        for_what = f"for: {entry.summary}" if entry.summary else ""
        return [
            *self._plain(entry.title, Tone.STRONG),
            *self._plain(for_what, Tone.MUTED),
            *self._plain(entry.thought, Tone.MUTED),
        ]

    def _right(self, entry: Entry) -> Cell:
        """Return risk, exit code and time for the right end of the line."""
        code, edit, runs_on = entry.exit_code or 0, entry.edit, "runs on" if self.reached else "ran on"
        told = (
            (entry.risk if entry.risk in RISKS else "", RISKS.get(entry.risk, Tone.PLAIN)),
            (f"+{edit.count('+')} -{edit.count('-')}" if edit is not None else "", Tone.MUTED),
            (f"exit {code}" if code > 0 else "", Tone.BAD),
            ("rejected" if entry.outcome is Outcome.REJECTED else "", Tone.WARN),
            (runs_on if entry.outcome is Outcome.RUNS_ON else "", Tone.BUSY if self.reached else Tone.MUTED),
            (took(entry.seconds) if entry.seconds is not None else "", Tone.MUTED),
        )
        return tuple((_after(words), tone) for words, tone in told if words)

    def _edit(self, edit: Edit) -> list[Cell]:
        """Return the changed lines and some around them; all lines if unfolded."""
        lines: list[Cell] = []
        old = new = edit.first
        changed = [at for at, (sign, _) in enumerate(edit.lines) if sign != " "]
        near = {at for each in changed for at in range(each - AROUND, each + AROUND + 1)}
        for at, (sign, words) in enumerate(edit.lines):
            number = "" if not edit.first else str(old if sign == "-" else new)
            old, new = old + (sign != "+"), new + (sign != "-")
            tone = CHANGES.get(sign, Tone.MUTED)
            if self.unfolded or at in near:
                line = (Shown(f"{number:>4} {sign} "), tone), (text.whole(words), tone)
                lines += wrap(line, self.width - BODY)
            elif at - 1 in near or not at:
                lines.append(((Shown("   …"), Tone.MUTED),))
        return lines

    def _quiet(self, entry: Entry, time: Shown) -> list[Cell]:
        begin, room = ((time, Tone.MUTED), glyph(EntryKind.QUIET)), self.width - TIME - 2
        if self.unfolded:
            first, *rest = plain_lines(text.line(entry.title), room, Tone.MUTED)
            body = _set_in(rest, TIME + 2) + _set_in(self._plain(entry.text, Tone.MUTED))
            return [(*begin, (Shown(" "), Tone.MUTED), *first), *body]
        more = f", {len(entry.text.splitlines()):,} lines, enter" if entry.text else ""
        return [(*begin, (Shown(clip(_after(f"{entry.title}{more}"), room + 1)[0]), Tone.MUTED))]

    def _plain(self, words: str, tone: Tone = Tone.PLAIN) -> list[Cell]:
        """Return the lines of a text below the head of an entry; empty without text."""
        return plain_lines(text.whole(words), self.width - BODY, tone) if words else []

    def _folded(self, lines: list[Cell], most: int) -> list[Cell]:
        if self.unfolded or len(lines) <= most + 1:
            return lines
        return [*lines[:most], cell(f"… {len(lines) - most:,} more lines, enter", Tone.MUTED)]


def _set_in(lines: list[Cell], by: int = BODY) -> list[Cell]:
    blank = (Shown(" " * by), Tone.PLAIN)
    return [(blank, *line) for line in lines]


def _after(words: str) -> Shown:
    """Return words with a space before them."""
    return Shown(f" {text.line(words)}")


def took(seconds: float) -> str:
    """Format how long something took."""
    return f"{seconds:.1f}s" if seconds < 60 else stopwatch(seconds)


def copied(entry: Entry) -> str:
    """Return an entry as text, for the clipboard and a pager."""
    edit = "\n".join(f"{sign} {words}" for sign, words in entry.edit.lines) if entry.edit is not None else ""
    tasks = "\n".join(f"{TASK_SIGNS.get(each.status, '[ ]')} {each.title}" for each in entry.tasks)
    head = f"$ {entry.title}" if entry.kind is EntryKind.TOOL and entry.title else entry.title
    return "\n".join(filter(None, (entry.said, head, entry.thought, edit, tasks, entry.text)))
