"""Whatever keys are pressed in the settings: nothing is stored that no review had said, and no secret leaves."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.client.models.settings import SettingsChanges
from tests.servers import Mode
from tests.tui_settings.conftest import FULL, Sit
from tests.tui_settings.monkey import Monkey

KEYS = 50
"""How many keys each of the monkeys presses."""
DOCUMENT: dict[Mode, str] = {"merge": "settings", "replace": "settings", "nested": "nested_settings"}
UNKNOWN: dict[Mode, dict[str, Any]] = {
    "merge": {"$.of_the_future": {"kept": [1, None]}, "$.search_api_key": "sentinel-search"},
    "replace": {"$.user_version": 7, "$.disabled_skills": ["npm"], "$.sandbox_api_key": "sentinel-sandbox"},
    "nested": {
        "$.agent_settings.llm.extra_headers": {"X-Key": "sentinel-header"},
        "$.agent_settings.mcp_config.db.cwd": "/srv/db",
        "$.search_api_key": "sentinel-search",
    },
}
"""What no deck of this release stores by itself."""


def put(folder: Path, store: Mode) -> None:
    """Put members into the record that a newer deck, or an older server, left there."""
    with closing(sqlite3.connect(folder / "data" / "service.db")) as database, database:
        for place, value in UNKNOWN[store].items():
            database.execute(
                "UPDATE documents SET record = json_set(record, ?, json(?)) WHERE name = ?",
                (place, json.dumps(value), DOCUMENT[store]),
            )


@pytest.mark.parametrize(("store", "seed"), [("merge", 13), ("replace", 11), ("nested", 14)])
async def test_nothing_is_stored_unsaid_and_no_secret_is_seen(
    sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Mode, seed: int
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    async with sit(stored=LONG_USED, store=store):
        put(tmp_path, store)
    async with sit(store=store) as seat:
        monkey = Monkey(seat, tmp_path, DOCUMENT[store], seed)
        try:
            await monkey.save_once()
            await monkey.press(KEYS)
        except AssertionError as error:
            error.add_note(f"store {store}, seed {seed}, keys: {' '.join(monkey.pressed)}")
            raise
        picture = seat.deck.export_screenshot()
    monkey.look_at_files()
    assert monkey.saves
    assert "sentinel" not in picture
    assert not list(tmp_path.glob("crash*"))


def _at_hand(config: McpConfig) -> McpConfig:
    """The same servers at addresses that nothing answers, without asking anybody for a name."""
    moved = {
        kind: tuple(
            server.model_copy(update={"url": f"http://127.0.0.1:9/{server.url.partition('://')[2]}"})
            for server in getattr(config, kind)
        )
        for kind in ("sse_servers", "shttp_servers")
    }
    return config.model_copy(update=moved)


LONG_USED: SettingsChanges = {**FULL, "mcp_config": _at_hand(FULL["mcp_config"])}
