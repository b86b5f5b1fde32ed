"""Makes the pictures of the README: `python -m tests.screenshots`.

They are of a simulated service in which nothing changes by itself, seen by a deck with a clock that stands still, so
that a picture changes only when the deck does.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from quarterdeck.config.connections import LOCAL
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import LocalService
from quarterdeck.tui.app import Deck
from quarterdeck.tui.kept_state import KeptState
from tests.tui.user import User, connecting, seated_at, served_by
from tests.tui_settings.conftest import FULL

PICTURES = Path(__file__).parents[1] / "screenshots"
WIDE, NARROW = (120, 32), (80, 24)
NOW, SANDBOXES = datetime(2026, 3, 14, 9, 30, tzinfo=UTC), 40
Steps = tuple[tuple[str, str], ...]
"""Keys, and what is to be seen after them."""


def picture(user: User) -> str:
    image = user.deck.export_screenshot(title="quarterdeck", simplify=True)
    return image.replace("<svg", '<svg xml:space="preserve"', 1)  # else some programs leave out blanks before a text


CONVERSATION: Steps = (("", "Needs you"), ("enter", "needs you:"), ("tab", "y accept"))
SETTINGS_EDITED: Steps = (
    ("3", "claude-sonnet"),
    (f"slash {' '.join('iterations')} enter enter ctrl+u 2 5 0 enter escape g", "1 edited"),
)
SHOTS: tuple[tuple[str, tuple[int, int], Steps], ...] = (
    ("conversations", WIDE, (("", "Needs you"), ("j j", ""))),
    ("conversation", WIDE, CONVERSATION),
    ("sandboxes", WIDE, (("2", "Running"), ("j j", ""))),
    ("plan", WIDE, (("2", "Running"), ("asterisk p", "will be paused"))),
    ("settings", WIDE, SETTINGS_EDITED),
    ("review", WIDE, (*SETTINGS_EDITED, ("ctrl+s", "Review the changes"))),
    ("narrow", NARROW, CONVERSATION),
)


async def take(root: Path) -> None:
    """Take every picture of one service, each with a deck of its own."""
    service = await LocalService.simulated(Simulation(SANDBOXES, churn=0.0), clock=lambda: NOW)
    connect = served_by(service)
    try:
        async with connect(LOCAL, None) as client:
            await client.settings.store(None, FULL)
        for name, size, steps in SHOTS:
            deck = Deck(LOCAL, connecting(connect, KeptState(root / name)), clock=lambda: NOW, crash_folder=root)
            async with seated_at(deck, size) as user:
                await user.until(lambda: user.deck.session is not None and user.session.all_listed)
                await user.press("ctrl+r", until=lambda: not user.session.conversations.health.refreshing)
                await user.sees("live now")
                for keys, words in steps:
                    await user.press(*keys.split(), sees=words)
                await user.pause()  # the side pane follows the cursor
                (PICTURES / f"{name}.svg").write_text(picture(user))
                print(f"{name}.svg")
    finally:
        await service.aclose()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(take(Path(folder)))
