"""Makes the pictures of the README: `python -m tests.screenshots`.

They are of a simulated service in which nothing changes by itself, seen by a deck with a clock that stands still, so
that a picture changes only when the deck does.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, ShttpServer, StdioServer
from quarterdeck.config.connections import LOCAL
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import LocalService
from quarterdeck.tui.app import Deck
from quarterdeck.tui.kept_state import KeptState
from tests.tui.seat import Seat, connecting, seated_at, served_by

PICTURES = Path(__file__).parents[1] / "screenshots"
WIDE, NARROW = (120, 32), (80, 24)
NOW = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
SANDBOXES = 40
CELL = 12.2
"""Width of a letter in Textual's pictures."""
BLANK = "&#160;"
INDENTED = re.compile(
    r'<text class="(?P<style>[^"]+)" x="(?P<x>[^"]+)" y="(?P<y>[^"]+)" textLength="(?P<length>[^"]+)"(?P<rest>[^>]*)>'
    rf"(?P<blanks>(?:{BLANK})+)"
)

SETTINGS = {
    "llm_model": "anthropic/claude-sonnet-4-5",
    "llm_api_key": SecretStr("only-for-the-picture"),
    "language": "en",
    "max_iterations": 200,
    "max_budget_per_task": 5.0,
    "confirmation_mode": True,
    "security_analyzer": "llm",
    "git_user_name": "Ada Lovelace",
    "git_user_email": "ada@example.org",
    "mcp_config": McpConfig(
        shttp_servers=(ShttpServer(url="https://tools.example.org/mcp", api_key=SecretStr("only-for-the-picture")),),
        stdio_servers=(StdioServer(name="files", command="uvx", args=("mcp-server-files", "/workspace")),),
    ),
}

Reach = Callable[[Seat], Awaitable[None]]


def picture(seat: Seat) -> str:
    """The screen as SVG."""
    return INDENTED.sub(_begun_later, seat.deck.export_screenshot(title="quarterdeck", simplify=True))


def _begun_later(text: re.Match[str]) -> str:
    """A text that begins at its first letter: some programs leave out the blanks before it."""
    blank = CELL * len(text["blanks"]) / len(BLANK)
    x, length = float(text["x"]) + blank, float(text["length"]) - blank
    return f'<text class="{text["style"]}" x="{x:g}" y="{text["y"]}" textLength="{length:g}"{text["rest"]}>'


async def conversations(seat: Seat) -> None:
    """The list the deck opens with."""
    await seat.sees("Needs you")
    await seat.press("j", "j")


async def sandboxes(seat: Seat) -> None:
    """The list of sandboxes."""
    await seat.press("2", sees="Running")
    await seat.press("j", "j")


async def plan(seat: Seat) -> None:
    """What a command for several would do."""
    await seat.press("2", sees="Running")
    await seat.press("asterisk", "p", sees="will be paused")


async def review(seat: Seat) -> None:
    """What a save would do."""
    await settings(seat)
    await seat.press("ctrl+s", sees="Review the changes")


async def settings(seat: Seat) -> None:
    """The settings with an edit that is not saved."""
    await seat.press("3", sees="claude-sonnet")
    await seat.press(
        "slash", *"iterations", "enter", "enter", "ctrl+u", *"250", "enter", "escape", "g", sees="1 edited"
    )


async def conversation(seat: Seat) -> None:
    """A conversation that waits for an answer, with an edit above the question."""
    await seat.sees("Needs you")
    await seat.press("enter", sees="needs you:")
    await seat.press("tab", sees="y accept")


SHOTS: tuple[tuple[str, tuple[int, int], Reach], ...] = (
    ("conversations", WIDE, conversations),
    ("conversation", WIDE, conversation),
    ("sandboxes", WIDE, sandboxes),
    ("plan", WIDE, plan),
    ("settings", WIDE, settings),
    ("review", WIDE, review),
    ("narrow", NARROW, conversation),
)


async def take(root: Path) -> None:
    """Take every picture of one service, each with a deck of its own."""
    service = await LocalService.simulated(Simulation(SANDBOXES, churn=0.0), clock=lambda: NOW)

    connect = served_by(service)
    try:
        async with connect(LOCAL, None) as client:
            await client.settings.store(None, SETTINGS)
        for name, size, reach in SHOTS:
            deck = Deck(LOCAL, connecting(connect, KeptState(root / name)), clock=lambda: NOW, crash_folder=root)
            async with seated_at(deck, size) as seat:
                await seat.until(lambda: seat.deck.session is not None and seat.session.all_listed)
                # Rows that came one after the other are sorted now.
                await seat.press("ctrl+r", until=lambda: not seat.session.conversations.health.refreshing)
                await seat.sees("live now")
                await reach(seat)
                await seat.pause()  # the side pane follows the cursor
                (PICTURES / f"{name}.svg").write_text(picture(seat))
                print(f"{name}.svg")
    finally:
        await service.aclose()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(take(Path(folder)))
