"""What somebody at one of two decks sees is that deck, whichever was opened last."""

import asyncio
from pathlib import Path

import pytest

from quarterdeck.tui.commands import Place
from tests.tui.seat import local, seated


async def test_a_screen_that_opens_during_a_pause_is_painted_on_the_deck_opened_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        seated(local(tmp_path / "first"), crashes=tmp_path) as first,
        seated(local(tmp_path / "second"), crashes=tmp_path),
    ):
        await first.until(lambda: first.deck.client)

        async def until_switched(_: float) -> None:
            first.deck.call_later(first.deck.show, Place.SETTINGS)
            while first.deck.current_mode != Place.SETTINGS:
                await asyncio.sleep(0)

        with monkeypatch.context() as patch:
            patch.setattr("textual.pilot.wait_for_idle", until_switched)
            await first.pause()
        await first.sees("LLM", "Model")
