"""One entry of a conversation as lines: when, who or what, then words; the eye runs down the second column."""

from datetime import datetime

from rich.cells import cell_len

from quarterdeck.fleet.ages import stopwatch
from quarterdeck.fleet.entries import Edit, Entry, EntryKind, Outcome
from quarterdeck.fleet.transcript import STREAMED
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Span, Tone
from quarterdeck.tui.look import drawn
from quarterdeck.tui.markdown import markdown_lines, plain_lines, wrap
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import fit_cell

FOLDED = 12
"""Lines of an output that are shown until it is unfolded."""
AROUND = 2
"""Unchanged lines that are shown around a change."""
FOLDED_MESSAGE = 60
"""The same of a message."""
STREAMED_TAIL = 3_000
"""Characters of an answer that is being written which are laid out: it is done ten times a second."""
TIME = 6
TOOL = 14
"""Cells of the name of a tool."""
BODY = 9
"""Where the lines under a tool begin."""
SIGNS: dict[Outcome | None, tuple[str, str, Tone]] = {
    Outcome.OPEN: ("◔", "~", Tone.BUSY),
    Outcome.RUNS_ON: ("◔", "~", Tone.BUSY),
    Outcome.DONE: ("✓", "v", Tone.GOOD),
    Outcome.FAILED: ("✗", "x", Tone.BAD),
    Outcome.REJECTED: ("✗", "x", Tone.WARN),
    None: ("·", ".", Tone.MUTED),
}
ASKED = ("◆", "!", Tone.WARN)
RISKS = {"HIGH": Tone.BAD, "MEDIUM": Tone.WARN}
TASK_SIGNS = {"done": "[x]", "in_progress": "[>]"}


class Layout:
    """How entries are laid out: `local` makes a moment of the reader's clock of a time of the sandbox's."""

    def __init__(self, width: int, *, waiting: bool) -> None:
        self.width = max(width, 20)
        self.waiting = waiting
        """Whether what has not ended waits for a person."""
        self.words_at = TIME + 8 if width >= 60 else TIME

    def lines(self, entry: Entry, at: datetime | None, *, unfolded: bool) -> list[Cell]:
        """All lines of an entry; `at` by the reader's clock."""
        time = Shown(f"{at:%H:%M}".ljust(TIME) if at is not None else " " * TIME)
        match entry.kind:
            case EntryKind.PERSON | EntryKind.AGENT:
                return self._message(entry, time, unfolded=unfolded)
            case EntryKind.TOOL:
                return self._tool(entry, time, unfolded=unfolded)
            case EntryKind.ERROR:
                head = ((time, Tone.MUTED), drawn(SIGNS[Outcome.FAILED]), (text.line(entry.title), Tone.BAD))
                return [_spaced(head), *self._set_in(plain_lines(text.whole(entry.text), self.width - BODY, Tone.BAD))]
            case _:
                return self._quiet(entry, time, unfolded=unfolded)

    def _message(self, entry: Entry, time: Shown, *, unfolded: bool) -> list[Cell]:
        tone = Tone.STRONG if entry.kind is EntryKind.PERSON else Tone.KEY
        body = [] if entry.kind is EntryKind.PERSON else self._thought(entry.thought, unfolded=unfolded)
        width = self.width - self.words_at
        if entry.id == STREAMED:
            cut = len(entry.text) - STREAMED_TAIL
            shown = text.whole(entry.text[cut:] if cut > 0 else entry.text)
            body += [((Shown(f"… {cut:,} characters before"), Tone.MUTED),)] if cut > 0 else []
            body += plain_lines(shown, width) if shown else []
        else:
            body += markdown_lines(entry.text, width)
        if entry.kind is EntryKind.PERSON and entry.title:
            body.append(((text.line(entry.title), Tone.WARN),))
        body = self._folded(body, FOLDED_MESSAGE, unfolded=unfolded) or [()]
        who = Shown(f"{entry.who:<8}" if self.words_at > TIME else f"{entry.who} ")
        if self.words_at == TIME:
            return [((time, Tone.MUTED), (who, tone)), *self._set_in(body, TIME)]
        first = ((time, Tone.MUTED), (who, tone), *body[0])
        return [first, *self._set_in(body[1:], self.words_at)]

    def _thought(self, thought: str, *, unfolded: bool) -> list[Cell]:
        if not thought:
            return []
        if unfolded:
            return plain_lines(text.whole(thought), self.width - self.words_at, Tone.MUTED)
        return [((Shown(f"thought {len(thought.split()):,} words, enter"), Tone.MUTED),)]

    def _tool(self, entry: Entry, time: Shown, *, unfolded: bool) -> list[Cell]:
        lines: list[Cell] = []
        if entry.said:
            said = entry._replace(kind=EntryKind.AGENT, who="agent", text=entry.said, thought="")
            lines = self._message(said, time, unfolded=unfolded)
        asked = self.waiting and entry.outcome is Outcome.OPEN
        sign, tone = drawn(ASKED if asked else SIGNS[entry.outcome])
        name, title = text.line(entry.who), text.line(entry.title or entry.summary)
        right = self._right(entry)
        taken = TIME + 2 + TOOL + 2 + sum(cell_len(part) for part, _ in right)
        titled, cells = fit_cell(((title, Tone.PLAIN),), max(self.width - taken, 8))
        fitted, _ = fit_cell(((Shown(f"{name:<{TOOL}}"), Tone.MUTED),), TOOL)
        gap = Shown(" " * max(self.width - taken - cells + 1, 1))
        blank = (Shown(" "), Tone.PLAIN)
        lines.append(((time, Tone.MUTED), (sign, tone), blank, *fitted, blank, *titled, (gap, Tone.PLAIN), *right))
        body: list[Cell] = []
        if unfolded:
            body += self._whole_action(entry)
        elif entry.thought:
            body += self._thought(entry.thought, unfolded=False)
        body += [
            ((Shown(f"{TASK_SIGNS.get(each.status, '[ ]')} "), Tone.MUTED), (text.line(each.title), Tone.PLAIN))
            for each in entry.tasks
        ]
        body += self._edit(entry.edit, unfolded=unfolded) if entry.edit is not None else []
        if entry.text and not (entry.tasks and entry.outcome is Outcome.DONE):
            body += plain_lines(text.whole(entry.text.rstrip("\n")), self.width - BODY)
        return [*lines, *self._set_in(self._folded(body, FOLDED, unfolded=unfolded))]

    def _whole_action(self, entry: Entry) -> list[Cell]:
        """What its one line may have cut, and why it was done."""
        width = self.width - BODY
        said = [*plain_lines(text.whole(entry.title), width, Tone.STRONG)]
        if entry.summary:
            said += wrap(((text.line(f"for: {entry.summary}"), Tone.MUTED),), width)
        if entry.thought:
            said += plain_lines(text.whole(entry.thought), width, Tone.MUTED)
        return said

    def _right(self, entry: Entry) -> Cell:
        """Risk, exit code and time, at the right end of the line."""
        spans: list[Span] = []
        if entry.risk in RISKS:
            spans.append((text.line(entry.risk), RISKS[entry.risk]))
        if entry.edit is not None:
            spans.append((Shown(f"+{entry.edit.added} -{entry.edit.removed}"), Tone.MUTED))
        if entry.exit_code is not None and entry.exit_code > 0:
            spans.append((Shown(f"exit {entry.exit_code}"), Tone.BAD))
        if entry.outcome is Outcome.REJECTED:
            spans.append((Shown("rejected"), Tone.WARN))
        if entry.outcome is Outcome.RUNS_ON:
            spans.append((Shown("runs on"), Tone.BUSY))
        if entry.seconds is not None:
            spans.append((Shown(took(entry.seconds)), Tone.MUTED))
        return _spaced(spans)

    def _edit(self, edit: Edit, *, unfolded: bool) -> list[Cell]:
        """The lines that changed and a few around them; all of them once unfolded."""
        width = self.width - BODY
        lines: list[Cell] = []
        old = new = edit.first
        changed = [at for at, (sign, _) in enumerate(edit.lines) if sign != " "]
        near = {at for each in changed for at in range(each - AROUND, each + AROUND + 1)}
        for at, (sign, words) in enumerate(edit.lines):
            number = "" if not edit.first else str(old if sign == "-" else new)
            old, new = old + (sign != "+"), new + (sign != "-")
            tone = {"+": Tone.GOOD, "-": Tone.BAD}.get(sign, Tone.MUTED)
            if unfolded or at in near:
                lines += wrap(((Shown(f"{number:>4} {sign} "), tone), (text.whole(words), tone)), width)
            elif at - 1 in near or not at:
                lines.append(((Shown("   …"), Tone.MUTED),))
        return lines

    def _quiet(self, entry: Entry, time: Shown, *, unfolded: bool) -> list[Cell]:
        more = f", {len(entry.text.splitlines()):,} lines, enter" if entry.text and not unfolded else ""
        head = ((time, Tone.MUTED), drawn(SIGNS[None]), (text.line(f"{entry.title}{more}"), Tone.MUTED))
        body = plain_lines(text.whole(entry.text), self.width - BODY, Tone.MUTED) if unfolded and entry.text else []
        fitted, _ = fit_cell(_spaced(head), self.width)
        return [tuple(fitted), *self._set_in(body)]

    def _folded(self, lines: list[Cell], most: int, *, unfolded: bool) -> list[Cell]:
        if unfolded or len(lines) <= most + 1:
            return lines
        return [*lines[:most], ((Shown(f"… {len(lines) - most:,} more lines, enter"), Tone.MUTED),)]

    def _set_in(self, lines: list[Cell], by: int = BODY) -> list[Cell]:
        blank = (Shown(" " * by), Tone.PLAIN)
        return [(blank, *line) for line in lines]


def took(seconds: float) -> str:
    """How long something took."""
    return f"{seconds:.1f}s" if seconds < 60 else stopwatch(seconds)


def copied(entry: Entry) -> str:
    """An entry as text, for the clipboard and a pager."""
    edit = "\n".join(f"{sign} {words}" for sign, words in entry.edit.lines) if entry.edit is not None else ""
    tasks = "\n".join(f"{TASK_SIGNS.get(each.status, '[ ]')} {each.title}" for each in entry.tasks)
    head = f"$ {entry.title}" if entry.kind is EntryKind.TOOL and entry.title else entry.title
    return "\n".join(filter(None, (entry.said, head, entry.thought, edit, tasks, entry.text)))


def _spaced(spans: list[Span] | Cell) -> Cell:
    """Spans with a blank between two; the time has its own."""
    joined: list[Span] = []
    for span in spans:
        if joined and not joined[-1][0].endswith(" "):
            joined.append((Shown(" "), Tone.PLAIN))
        joined.append(span)
    return tuple(joined)
