"""One command for several rows, from the question beforehand to what became of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from quarterdeck.fleet.bulk import RETRIED, SANDBOXES, BulkRow, BulkRun, N, Named, Noun, Plan, RowState, Verdict
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import Place
from quarterdeck.tui.lists.sandbox_cells import money
from quarterdeck.tui.text import Shown

LOOKS: dict[RowState, tuple[str, str, Tone]] = {
    RowState.DONE: ("✓", "done", Tone.GOOD),
    RowState.FAILED: ("✕", "failed", Tone.BAD),
    RowState.UNCHANGED: ("!", "unchanged", Tone.WARN),
    RowState.UNDONE: ("↺", "undone", Tone.WARN),
    RowState.GONE: ("○", "gone", Tone.WARN),
    RowState.SENT: ("◔", "asked for", Tone.BUSY),
    RowState.WAITING: ("·", "waiting", Tone.PLAIN),
    RowState.STOPPED: ("■", "stopped", Tone.MUTED),
    RowState.SKIPPED: ("-", "skipped", Tone.MUTED),
}
"""Sign, word and tone of how far a row is."""


@dataclass(frozen=True)
class Order:
    """Something that can be asked of rows; `verb` is what a person calls it, `noun` what they are."""

    verb: str
    act: Callable[[str], Awaitable[None]]
    """Asks for it; raises ServiceError."""
    verdict: Callable[[str], Verdict | None]
    """What the readings say of one it was asked of, by its id."""
    noun: Noun = SANDBOXES


class Job:
    """An order for the rows of a plan, its rows as they were when it was given, and how far it is."""

    def __init__(
        self,
        order: Order,
        planned: Plan[N],
        begin: Callable[[Job], None],
        place: Place,
        *,
        sweep: bool = False,
    ) -> None:
        self.order = order
        self.place = place
        """The screen it was asked for on."""
        self.sweep = sweep
        """Whether it is an idle sweep, whose end says what it saved."""
        left_out = [row for row, _ in planned.skipped]
        self.rows: Mapping[str, Named] = {row.id: row for row in (*planned.rows, *left_out, *planned.hidden)}
        self._news: dict[str, BulkRow] = {}
        self._begin = begin
        self.run = BulkRun(planned, order.act, order.verdict, progress=self._moved_on)

    def begin(self) -> None:
        """Do it, for as long as the connection is open."""
        self._begin(self)

    def again(self) -> bool:
        """Try again what failed; whether there is anything."""
        failed = self.run.retry_failed() > 0
        if failed:
            self._begin(self)
        return failed

    def _moved_on(self, row: BulkRow) -> None:
        self._news[row.id] = row

    def take_news(self) -> Mapping[str, BulkRow]:
        """Rows that changed since this was asked last, by id."""
        news, self._news = self._news, {}
        return news

    @property
    def title(self) -> Shown:
        """What is being done."""
        count = sum(row.state is not RowState.SKIPPED for row in self.run.rows.values())
        what = "Idle sweep: pause" if self.sweep else self.order.verb
        return Shown(f"{what} {self.order.noun.counted(count)}")

    @property
    def summary(self) -> str:
        """What became of all rows, as text to copy."""
        return self.run.summary(self.order.noun)

    @property
    def counts(self) -> Cell:
        """How many rows have come how far."""
        said = [(Shown(f"{words}  "), tone) for words, tone in self._counted()]
        if not self.run.ended and (waits := self.run.waits) > 0:
            said.append((Shown(f"the server asked to wait {waits:.0f}s"), Tone.WARN))
        return tuple(said)

    @property
    def failed(self) -> bool:
        """Whether something was tried and not done, so that it can be tried again."""
        return any(row.state in RETRIED for row in self.run.rows.values())

    @property
    def result(self) -> Shown:
        """What became of it, in one line."""
        said = ", ".join(words for words, _ in self._counted())
        return text.line(f"{self.title}: {said}. {self.saved}")

    def _counted(self) -> list[tuple[str, Tone]]:
        counts = Counter(row.state for row in self.run.rows.values())
        return [(f"{counts[state]:,} {word}", tone) for state, (_, word, tone) in LOOKS.items() if counts[state]]

    @property
    def saved(self) -> Shown:
        """What an idle sweep stopped, and what that had cost."""
        if not self.sweep:
            return Shown("")
        done = [row_id for row_id, row in self.run.rows.items() if row.state is RowState.DONE]
        spent = sum(self.rows[row_id].spent for row_id in done)
        return Shown(f"It stopped {len(done):,}, which had cost {money(spent)} so far.")


def state_cell(row: BulkRow) -> Cell:
    """Sign and word of how far a row is."""
    sign, word, tone = LOOKS[row.state]
    return ((Shown(f"{sign} {word}"), tone),)
