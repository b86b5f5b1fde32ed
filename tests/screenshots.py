"""Makes the pictures of the README: `python -m tests.screenshots`.

A local service in a temporary folder is given settings, sandboxes and conversations through the real client; its times
are then set to fixed ones, and the deck is shown on it with a clock that stands still, so that a picture changes only
when the deck does.
"""

import asyncio
import re
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch
from uuid import UUID

from pydantic import SecretStr
from textual.pilot import Pilot

from quarterdeck.cli.connect import Connector
from quarterdeck.cli.target import Target
from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, StdioServer
from quarterdeck.client.transport import Access
from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.config.load import Config, Folders
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import LocalService
from quarterdeck.tui.app import Deck
from quarterdeck.tui.connecting import Connect
from tests.tui.seat import connecting

PICTURES = Path(__file__).parents[1] / "screenshots"
SIZE = (120, 28)
NOW = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
CELL = 12.2
"""Width of a letter in Textual's pictures."""
BLANK = "&#160;"
INDENTED = re.compile(
    r'<text class="(?P<style>[^"]+)" x="(?P<x>[^"]+)" y="(?P<y>[^"]+)" textLength="(?P<length>[^"]+)"(?P<rest>[^>]*)>'
    rf"(?P<blanks>(?:{BLANK})+)"
)
PATIENCE = 20.0
"""Seconds until something that does not appear counts as missing."""

TITLES = (
    "Find out why the nightly import skips rows",
    "Rename the billing module and fix its callers",
    "Add a dark theme to the report pages",
    "Upgrade the test runner",
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

Shot = tuple[str, Callable[[Pilot[int]], Awaitable[None]]]


def connector(root: Path) -> Connector:
    """Opens the embedded service in a folder."""
    return Connector(Config(Folders(root / "config", root / "data", root / "state")), Target(LOCAL), {})


async def seed(client: Client) -> None:
    """Give the service something to show."""
    await client.settings.store(None, SETTINGS)
    used = [await client.sandboxes.start("files") for _ in TITLES]
    await client.sandboxes.start("shell")
    for sandbox, title in zip(used, TITLES, strict=True):
        await converse(client, title, sandbox.id)
    await client.sandboxes.pause(used[-1].id)


async def converse(client: Client, title: str, sandbox_id: str) -> None:
    """Create a conversation and wait for it."""
    task = await client.conversations.create(NewConversation(title=title, sandbox_id=sandbox_id))
    assert isinstance(task, StartTask)

    async def ready() -> bool:
        answer = await client.conversations.start_tasks([task.id])
        return bool(answer and answer[0] and answer[0].app_conversation_id)

    await until(ready, f"the conversation {title!r}")


def settle_times(database: Path) -> None:
    """Spread what was seeded over the hours before the picture."""
    ages = [timedelta(minutes=minutes) for minutes in (2, 17, 66, 190, 1500)]
    with closing(sqlite3.connect(database)) as connection, connection:
        for table in ("sandboxes", "conversations", "start_tasks"):
            rows = connection.execute(f"SELECT id FROM {table} ORDER BY created_at DESC").fetchall()
            for (row_id,), age in zip(rows, ages, strict=False):
                moment = (NOW - age).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
                connection.execute(f"UPDATE {table} SET created_at = ? WHERE id = ?", (moment, row_id))
        connection.execute("UPDATE conversations SET updated_at = created_at")


async def until(happened: Callable[[], Awaitable[bool]], what: str) -> None:
    """Look again until something has happened; raises TimeoutError that names it."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while not await happened():
        if asyncio.get_running_loop().time() > end:
            raise TimeoutError(what)
        await asyncio.sleep(0.05)


async def shown(pilot: Pilot[int], text: str) -> None:
    """Wait until a text is on the screen."""

    async def on_screen() -> bool:
        await pilot.pause()
        return text in picture(pilot).replace(BLANK, " ")

    await until(on_screen, f"{text!r} on the screen")


def picture(pilot: Pilot[int]) -> str:
    """The screen as SVG."""
    return INDENTED.sub(_begun_later, pilot.app.export_screenshot(title="quarterdeck", simplify=True))


def _begun_later(text: re.Match[str]) -> str:
    """A text that begins at its first letter: some programs leave out the blanks before it."""
    blank = CELL * len(text["blanks"]) / len(BLANK)
    x, length = float(text["x"]) + blank, float(text["length"]) - blank
    return f'<text class="{text["style"]}" x="{x:g}" y="{text["y"]}" textLength="{length:g}"{text["rest"]}>'


async def conversations(pilot: Pilot[int]) -> None:
    """The list the deck opens with, the cursor on its first row."""
    await shown(pilot, TITLES[-1][:12])
    await pilot.press("g")
    await shown(pilot, TITLES[-1])


async def sandboxes(pilot: Pilot[int]) -> None:
    """The list of sandboxes, the cursor on the paused one: addresses of running ones have a port that changes."""
    await pilot.press("2")
    await shown(pilot, "Paused")
    await pilot.press("G")
    await shown(pilot, "PAUSED")


async def settings(pilot: Pilot[int]) -> None:
    """The settings with an edit that is not saved."""
    await pilot.press("3")
    await shown(pilot, "claude-sonnet")


async def conversation(pilot: Pilot[int]) -> None:
    """A conversation that waits for an answer, with an edit above the question."""
    await shown(pilot, "Needs you")
    await pilot.press("enter")
    await shown(pilot, "needs you:")
    await pilot.press("tab")
    await shown(pilot, "y accept")


SHOTS: tuple[Shot, ...] = (("conversations", conversations), ("sandboxes", sandboxes), ("settings", settings))


async def take_on(connect: Connect, root: Path, shots: Iterable[Shot]) -> None:
    """Take pictures of a deck."""
    deck = Deck(LOCAL, connecting(connect), clock=lambda: NOW, crash_folder=root / "state")
    async with deck.run_test(size=SIZE) as pilot:
        for name, reach in shots:
            await reach(pilot)
            await pilot.pause()
            (PICTURES / f"{name}.svg").write_text(picture(pilot))
            print(f"{name}.svg")


async def take_simulated(root: Path) -> None:
    """Take the picture of a conversation whose agent is played."""
    service = await LocalService.simulated(Simulation(60, churn=0.0), clock=lambda: NOW)

    @asynccontextmanager
    async def connect(endpoint: Connection, key: SecretStr | None = None) -> AsyncIterator[Client]:
        async with Client(IN_PROCESS, key=service.key, access=Access(app=service.app)) as client:
            yield client

    try:
        await take_on(connect, root, (("conversation", conversation),))
    finally:
        await service.close()


async def take(root: Path) -> None:
    """Seed a service, take every picture and remove the sandboxes again."""
    connect = connector(root)
    async with connect(LOCAL) as client:
        await seed(client)
    settle_times(root / "data" / "service.db")
    try:
        await take_on(connect, root, SHOTS)
    finally:
        async with connect(LOCAL) as client:
            async for page in client.sandboxes.pages():
                for sandbox in page.items:
                    await client.sandboxes.delete(sandbox.id)


def main() -> int:
    """Take the pictures; ids are made from a fixed seed."""
    made = Random(7)
    PICTURES.mkdir(exist_ok=True)
    with (
        TemporaryDirectory(prefix="quarterdeck-") as folder,
        patch("secrets.token_hex", lambda size=32: made.randbytes(size).hex()),
        patch("uuid.uuid4", lambda: UUID(bytes=made.randbytes(16), version=4)),
    ):
        asyncio.run(take(Path(folder)))
        asyncio.run(take_simulated(Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
