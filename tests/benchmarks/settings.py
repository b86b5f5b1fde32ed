"""What a key of the settings form costs with many MCP servers, against the same key with few."""

import asyncio
import gc
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import SecretStr
from textual import events

from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.tui.app import Deck
from tests.tui.seat import LOCAL, Seat, local
from tests.tui_settings.form import FormSeat

FEW = 10
ROUNDS = 20
KEYS: dict[str, Sequence[str]] = {
    "a key that does nothing": ("f12",),
    "cursor": ("down",),
    "page": ("pagedown", "pageup"),
    "edit": ("d", "u"),
}


def servers(count: int) -> McpConfig:
    """As many servers, a third of each transport."""
    return McpConfig(
        sse_servers=tuple(SseServer(url=f"https://h{n}.example.org/sse") for n in range(0, count, 3)),
        shttp_servers=tuple(ShttpServer(url=f"https://h{n}.example.org/mcp") for n in range(1, count, 3)),
        stdio_servers=tuple(
            StdioServer(name=f"s{n}", command="npx", args=("-y", f"@acme/s{n}"), env={"TOKEN": SecretStr("x")})
            for n in range(2, count, 3)
        ),
    )


async def costs(count: int, size: tuple[int, int] = (80, 24)) -> dict[str, float]:
    """Milliseconds of processor time a key takes, painting included, with as many servers."""
    with tempfile.TemporaryDirectory() as folder:
        connect = local(Path(folder) / "data")
        async with connect(LOCAL, None) as client:
            await client.describe()
            await client.settings.store(None, {"mcp_config": servers(count)})
        deck = Deck(LOCAL, connect, crash_folder=Path(folder))
        async with deck.run_test(size=size) as pilot:
            seat = await FormSeat.at(Seat(deck, pilot))
            await seat.go_to("mcp:3")
            return {name: await _cost(seat, keys) for name, keys in KEYS.items()}


async def _cost(seat: FormSeat, keys: Sequence[str]) -> float:
    started = time.process_time()
    for _ in range(ROUNDS):
        for key in keys:
            seat.deck.post_message(events.Key(key, key if len(key) == 1 else None))
            await seat.pause()
    return (time.process_time() - started) / ROUNDS / len(keys) * 1000


def report(count: int) -> list[str]:
    """A line for each kind of key: its cost with `count` servers, and the ratio to a few."""
    threshold = gc.get_threshold()
    gc.set_threshold(50_000, 20, 50)  # as the deck runs
    try:
        few, many = asyncio.run(costs(FEW)), asyncio.run(costs(count))
    finally:
        gc.set_threshold(*threshold)
    return [f"{name:<24} {many[name]:6.1f} ms  {many[name] / few[name]:4.1f} x of {FEW} servers" for name in KEYS]
