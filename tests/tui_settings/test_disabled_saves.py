"""Disabled MCP servers: at no moment is one nowhere, and what is kept here knows what a save did."""

import json
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.kept import DisabledServers, disabled_in
from quarterdeck.tui.kept_state import KeptState
from tests.tui.seat import LOCAL
from tests.tui_settings.conftest import FULL, Sit
from tests.tui_settings.form import FormSeat


async def kept(folder: Path) -> tuple[McpServer, ...]:
    """The disabled servers that are kept."""
    return disabled_in(await KeptState(folder / "state").read(DisabledServers, LOCAL.about))


async def disable(seat: FormSeat, row: str, *keys: str) -> None:
    await seat.go_to(row)
    await seat.choose("Disable")
    await seat.sees("With secrets")
    await seat.press(*keys)
    await seat.sees("will be disabled")


async def test_a_server_is_disabled_with_its_secrets_and_comes_back_as_it_was(sit: Sit, tmp_path: Path) -> None:
    async with sit(stored=FULL) as seat:
        before = await seat.stored()
        await disable(seat, "mcp:2", "s")
        assert await kept(tmp_path) == ()
        await seat.press("ctrl+s")
        await seat.agree()
        await seat.sees("Saved · 1 of 1 verified", "disabled", "As stored")
        (server,) = await kept(tmp_path)
        assert before.mcp_config is not None
        assert server == before.mcp_config.stdio_servers[0]
        stored = (await seat.stored()).mcp_config
        assert stored is not None
        assert stored.stdio_servers == ()
    async with sit() as seat:
        await seat.until(lambda: any(entry.disabled for entry in seat.form.draft.servers.entries))
        row = next(f"mcp:{entry.row}" for entry in seat.form.draft.servers.entries if entry.disabled)
        await seat.go_to(row)
        await seat.choose("Enable")
        await seat.sees("1 edited")
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified", "As stored")
        assert await seat.stored() == before
    assert await kept(tmp_path) == ()


async def test_the_note_is_written_before_the_save_is_sent(
    sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sit(stored=FULL) as seat:
        held_at_store: list[tuple[McpServer, ...]] = []
        store = seat.settings.record.store
        assert store is not None

        async def refused(*_: Any) -> None:
            held_at_store.append(await kept(tmp_path))
            raise ServiceError(ErrorKind.DENIED, "Not allowed.", outcome=Outcome.NOT_APPLIED)

        monkeypatch.setattr(store, "store", refused)
        await disable(seat, "mcp:2", "s")
        await seat.press("ctrl+s")
        await seat.agree()
        await seat.sees("Not saved: Not allowed.", "1 edited")
        assert [len(held) for held in held_at_store] == [1]
        await seat.until(lambda: not list((tmp_path / "state" / "disabled").glob("*.json")))
        stored = (await seat.stored()).mcp_config
    assert stored is not None
    assert len(stored.stdio_servers) == 1


async def test_what_cannot_be_kept_here_is_not_taken_from_the_server(sit: Sit, tmp_path: Path) -> None:
    async with sit(stored=FULL) as seat:
        before = await seat.stored()
        await disable(seat, "mcp:2", "s")
        folder = tmp_path / "state" / "disabled"
        folder.parent.mkdir(exist_ok=True)
        folder.write_text("in the way")
        await seat.press("ctrl+s")
        await seat.agree()
        await seat.sees("Not saved:", "1 edited")
        assert seat.posts == 0
        assert await seat.stored() == before


async def test_a_disabled_server_that_is_deleted_concerns_only_this_machine(sit: Sit, tmp_path: Path) -> None:
    async with sit(stored=FULL) as seat:
        await disable(seat, "mcp:2", "s")
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified")
        posts = seat.posts
        row = next(f"mcp:{entry.row}" for entry in seat.form.draft.servers.entries if entry.disabled)
        await seat.go_to(row)
        await seat.press("d", "ctrl+s")
        await seat.sees("Review the changes", "Kept on this machine only")
        await seat.press("r")
        await seat.sees("this concerns only what this machine keeps")
        await seat.agree()
        await seat.sees("Done on this machine", "As stored")
        assert seat.posts == posts
    assert await kept(tmp_path) == ()


async def test_two_decks_disable_without_losing_what_the_other_keeps(sit: Sit, tmp_path: Path) -> None:
    async with sit(stored=FULL) as ann, sit() as ben:
        await disable(ann, "mcp:2", "s")
        await disable(ben, "mcp:0", "s")
        for seat in (ann, ben):
            await seat.save()
            await seat.sees("Saved · 1 of 1 verified")
        await ben.sees("As stored")
        assert len(await kept(tmp_path)) == 2
        stored = (await ann.stored()).mcp_config
        assert sum(entry.disabled for entry in ben.form.draft.servers.entries) == 2
    assert stored is not None
    assert (stored.stdio_servers, stored.sse_servers) == ((), ())
    assert "sentinel" in json.dumps([path.read_text() for path in (tmp_path / "state" / "disabled").glob("*.json")])
