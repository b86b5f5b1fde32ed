from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.tui.seat import NARROW, WIDE, Seat

Sit = Callable[..., AbstractAsyncContextManager[Seat]]


async def create(seat: Seat, message: str) -> None:
    await seat.until(lambda: seat.deck.session)
    await seat.press("1", "n")
    await seat.sees("New conversation", "First message")
    await seat.type(message)
    await seat.press("ctrl+s")


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_conversation_is_created_followed_and_listed(sit: Sit, size: tuple[int, int]) -> None:
    async with sit(size=size) as seat:
        await seat.sees("No conversations.", "n creates one")
        await create(seat, "fix the bug")
        await seat.sees("fix the bug", "1 Idle")
    async with sit(size=size) as seat:
        await seat.sees("fix the bug", "1 Idle")


async def test_title_and_sandbox_are_taken_as_typed(sit: Sit) -> None:
    async with sit() as seat:
        await seat.until(lambda: seat.deck.session)
        sandbox = await seat.session.start("shell")
        await seat.until(lambda: sandbox.id in seat.session.sandboxes.records)
        await seat.press("n")
        await seat.sees("First message")
        await seat.press("tab")
        await seat.type("A title of mine")
        await seat.press("tab", "tab", "tab", "enter", "down", "enter", "ctrl+s")
        await seat.sees("A title of mine", "1 Idle")
        (conversation,) = seat.session.conversations.records.values()
        assert (conversation.title, conversation.sandbox_id) == ("A title of mine", sandbox.id)


async def test_a_start_that_fails_stays_with_its_reason_until_it_is_put_away(sit: Sit) -> None:
    async with sit() as seat:
        await seat.until(lambda: seat.deck.session)
        sandbox = await seat.session.start("shell")
        await seat.until(lambda: sandbox.id in seat.session.sandboxes.records)
        await seat.press("n")
        await seat.sees("First message")
        await seat.press("tab", "tab", "tab", "tab", "enter", "down", "enter")
        await seat.session.client.sandboxes.delete(sandbox.id)
        await seat.press("ctrl+s")
        await seat.sees("failed")
        await seat.press("enter")
        await seat.sees("start status", "ERROR")
        await seat.press("escape", "D")
        await seat.until(lambda: not seat.list_screen.table.rows)


async def test_from_a_conversation_to_its_sandbox_and_back(sit: Sit) -> None:
    async with sit() as seat:
        await create(seat, "hello")
        await seat.sees("1 Idle")
        (conversation,) = seat.session.conversations.records.values()
        await seat.until(lambda: conversation.sandbox_id in seat.session.sandboxes.records)
        await seat.press("o")
        await seat.sees("[2 Sandboxes]", "hello")
        assert seat.list_screen.table.cursor_id == conversation.sandbox_id
        await seat.press("o")
        await seat.sees("[1 Conversations]")
        assert seat.list_screen.table.cursor_id == conversation.id


async def test_its_sandbox_is_paused_and_resumed_from_the_conversation(sit: Sit) -> None:
    async with sit() as seat:
        await create(seat, "hello")
        await seat.sees("1 Idle")
        await seat.until(lambda: seat.session.sandboxes.records)
        await seat.press("p")
        await seat.sees("1 Sandbox paused")
        await seat.press("r")
        await seat.sees("1 Idle")


async def test_the_detail_has_all_metadata(sit: Sit) -> None:
    async with sit() as seat:
        await create(seat, "hello")
        await seat.sees("1 Idle")
        (conversation,) = seat.session.conversations.records.values()
        await seat.press("i")
        await seat.sees(conversation.id, "repository", "branch", "provider", "model", "trigger", "created", "updated")
        await seat.press("pagedown")
        await seat.sees("sandbox status", "RUNNING", "agent status", "idle")
