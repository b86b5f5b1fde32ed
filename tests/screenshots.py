"""Makes the pictures of the README: `python -m tests.screenshots`.

They are of a simulated service in which nothing changes by itself, seen by a deck with a clock that stands still, so
that a picture changes only when the deck does.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import SecretStr
from textual.pilot import Pilot

from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, StdioServer
from quarterdeck.client.transport import Access
from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import LocalService
from quarterdeck.tui.app import Deck
from quarterdeck.tui.kept_state import KeptState
from tests.tui.seat import connecting

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
PATIENCE = 20.0
"""Seconds until something that does not appear counts as missing."""

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

Reach = Callable[[Pilot[int]], Awaitable[None]]


async def shown(pilot: Pilot[int], text: str) -> None:
    """Wait until a text is on the screen."""
    async with asyncio.timeout(PATIENCE):
        while text not in picture(pilot).replace(BLANK, " "):
            await pilot.pause(0.05)


def picture(pilot: Pilot[int]) -> str:
    """The screen as SVG."""
    return INDENTED.sub(_begun_later, pilot.app.export_screenshot(title="quarterdeck", simplify=True))


def _begun_later(text: re.Match[str]) -> str:
    """A text that begins at its first letter: some programs leave out the blanks before it."""
    blank = CELL * len(text["blanks"]) / len(BLANK)
    x, length = float(text["x"]) + blank, float(text["length"]) - blank
    return f'<text class="{text["style"]}" x="{x:g}" y="{text["y"]}" textLength="{length:g}"{text["rest"]}>'


async def conversations(pilot: Pilot[int]) -> None:
    """The list the deck opens with."""
    await shown(pilot, "Needs you")
    await pilot.press("j", "j")


async def sandboxes(pilot: Pilot[int]) -> None:
    """The list of sandboxes."""
    await pilot.press("2")
    await shown(pilot, "Running")
    await pilot.press("j", "j")


async def plan(pilot: Pilot[int]) -> None:
    """What a command for several would do."""
    await pilot.press("2")
    await shown(pilot, "Running")
    await pilot.press("*", "p")
    await shown(pilot, "Pause ")


async def review(pilot: Pilot[int]) -> None:
    """What a save would do."""
    await settings(pilot)
    await pilot.press("ctrl+s")
    await shown(pilot, "Review the changes")


async def settings(pilot: Pilot[int]) -> None:
    """The settings with an edit that is not saved."""
    await pilot.press("3")
    await shown(pilot, "claude-sonnet")
    await pilot.press("slash", *"iterations", "enter", "enter", "ctrl+u", *"250", "enter", "escape", "g")
    await shown(pilot, "1 edited")


async def conversation(pilot: Pilot[int]) -> None:
    """A conversation that waits for an answer, with an edit above the question."""
    await shown(pilot, "Needs you")
    await pilot.press("enter")
    await shown(pilot, "needs you:")
    await pilot.press("tab")
    await shown(pilot, "y accept")


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

    @asynccontextmanager
    async def connect(endpoint: Connection, key: SecretStr | None = None) -> AsyncIterator[Client]:
        async with Client(IN_PROCESS, key=service.key, access=Access(app=service.app)) as client:
            yield client

    try:
        async with connect(LOCAL) as client:
            await client.settings.store(None, SETTINGS)
        for name, size, reach in SHOTS:
            deck = Deck(LOCAL, connecting(connect, KeptState(root / name)), clock=lambda: NOW, crash_folder=root)
            async with deck.run_test(size=size) as pilot:
                await deck.loaded.wait()
                await reach(pilot)
                await pilot.pause()
                (PICTURES / f"{name}.svg").write_text(picture(pilot))
                print(f"{name}.svg")
    finally:
        await service.aclose()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(take(Path(folder)))
