"""A small app around one table, with made-up sandboxes, for the tests to look at and press keys in."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.strip import Strip

from quarterdeck.tui import theme
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.table import Table
from quarterdeck.tui.widgets.table_layout import Column

NOON = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
STATES = {
    "Running": ("●", Tone.GOOD),
    "Paused": ("‖", Tone.REST),
    "Starting": ("◔", Tone.BUSY),
    "Error": ("✕", Tone.BAD),
    "Missing": ("○", Tone.MUTED),
}
TITLES = (
    "Fix login bug",
    "Migrate the schema to v2",
    "Try the new parser",
    "修复登录错误并添加测试 🎉",
    "Cafe\u0301 menu import",
    "Old spike",
)


@dataclass(frozen=True)
class Box:
    """A made-up sandbox."""

    id: str
    state: str = "Running"
    title: str = "Fix login bug"
    since: datetime = NOON - timedelta(hours=3, minutes=12)
    cost: float = 1.84
    changed: int = 0


def boxes(count: int) -> list[Box]:
    """Made-up sandboxes `box-0` ... in every state."""
    states = list(STATES)
    return [
        Box(
            f"box-{n}",
            states[n % 5],
            TITLES[n % len(TITLES)],
            NOON - timedelta(minutes=7 * n % 4000),
            n * 37 % 900 / 100,
        )
        for n in range(count)
    ]


def age(since: datetime, now: datetime) -> Shown:
    minutes = max(0, int((now - since).total_seconds()) // 60)
    return Shown(f"{minutes // 60}h{minutes % 60:02}m" if minutes >= 60 else f"{minutes}m")


def state_cell(box: Box, _now: datetime) -> Cell:
    glyph, tone = STATES[box.state]
    return ((Shown(f"{glyph} {box.state}"), tone),)


def title_cell(box: Box, _now: datetime) -> Cell:
    if box.id.endswith("4"):
        return cell(Shown("none – orphan"), Tone.MUTED)
    more: Cell = ((Shown(" +2"), Tone.MUTED),) if box.id.endswith("3") else ()
    return ((line(box.title), Tone.PLAIN), *more)


COLUMNS = (
    Column[Box]("state", "STATUS", 12, state_cell, sort=lambda box: box.state),
    Column[Box]("id", "SANDBOX", 10, lambda box, _: cell(line(box.id), Tone.STRONG)),
    Column[Box]("title", "CONVERSATION", 20, title_cell, sort=lambda box: box.title, flex=1),
    Column[Box](
        "for", "FOR", 7, lambda box, now: cell(age(box.since, now), Tone.MUTED), sort=lambda box: box.since, right=True
    ),
    Column[Box](
        "cost", "COST", 7, lambda box, _: cell(Shown(f"${box.cost:.2f}")), sort=lambda box: box.cost, right=True
    ),
    Column[Box]("spec", "SPEC", 24, lambda _box, _: cell(Shown("agent-server:1.6.0-python"), Tone.MUTED), priority=2),
    Column[Box]("version", "CHANGES", 8, lambda box, _: cell(Shown(str(box.changed))), priority=1, right=True),
)


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class PaintedTable(Table[Box]):
    """The table, noting each line it is asked to paint."""

    def __init__(self, clock: Clock) -> None:
        self.painted_lines: list[int] = []
        super().__init__(COLUMNS, clock=clock, id="table")

    def render_line(self, y: int) -> Strip:
        self.painted_lines.append(y)
        return super().render_line(y)


class Demo(App[int]):
    """The table alone on a screen."""

    CSS = "Screen { background: $background; color: $foreground; }"

    def __init__(self, theme_name: str = "quarterdeck-dark", count: int = 60) -> None:
        super().__init__()
        for own in theme.THEMES:
            self.register_theme(own)
        self.theme = theme_name
        self.clock = Clock()
        self.table = PaintedTable(self.clock)
        self.heard: list[Message] = []
        self.table.show(boxes(count))

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.set_focus(self.table)

    @on(Table.Highlighted)
    @on(Table.Chosen)
    @on(Table.Marked)
    @on(Table.Seen)
    @on(Table.SortAsked)
    def hear(self, message: Message) -> None:
        self.heard.append(message)

    def count(self, kind: type[Message]) -> int:
        """How many messages of a kind were heard."""
        return sum(isinstance(message, kind) for message in self.heard)

    def lines(self) -> list[str]:
        """What the table shows, line by line."""
        return [strip.text for strip in self.table.render_lines(self.table.size.region)]

    async def settle(self, pilot: Pilot[int]) -> None:
        """Let everything be painted, and begin to note painted lines and messages anew."""
        await pilot.pause()
        self.table.painted_lines.clear()
        self.heard.clear()
