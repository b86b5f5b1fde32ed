"""A server whose clock is another than this machine's, and moments that no clock shows."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.client.fakes import Answer, Asked, FakeServer
from tests.tui.fake_fleet import PROD, FakeFleet
from tests.tui.seat import WIDE, answering, seated

HOUR = timedelta(hours=1)


def at_another_time(fleet: FakeFleet, ahead: timedelta) -> FakeServer:
    """The server of a fleet, which tells its own time in every answer."""

    def answer(asked: Asked) -> Answer | Exception:
        said = fleet.answer(asked)
        date = format_datetime(datetime.now(UTC) + ahead, usegmt=True)
        return said if isinstance(said, Exception) else replace(said, headers={**said.headers, "Date": date})

    return FakeServer(answer)


@pytest.mark.parametrize(("ahead", "apart"), [(24 * HOUR, "1d ahead of"), (-24 * HOUR, "1d behind")])
async def test_ages_are_reckoned_by_the_clock_of_the_server(ahead: timedelta, apart: str) -> None:
    fleet, now = FakeFleet(), datetime.now(UTC) + ahead
    fleet.add("box", created=(now - 5 * HOUR).isoformat())
    fleet.talk("c1", "box", "Fix login", updated_at=(now - 3.5 * HOUR).isoformat())
    async with seated(answering(at_another_time(fleet, ahead)), PROD, size=WIDE) as seat:
        await seat.sees("Fix login", f"The server's clock is {apart} this machine's")
        assert re.search(r"\b3h[23]\dm\b", seat.line_of("Fix login"))
        await seat.press("2", sees=("QUIET", "Fix login"))
        assert re.search(r"\b3h[23]\dm\b", seat.line_of("Fix login")), "quiet since the conversation in it changed"


async def test_a_time_far_in_the_future_is_shown_as_the_date_and_leads_nothing() -> None:
    fleet, now = FakeFleet(), datetime.now(UTC)
    fleet.talk("c1", "", "Of 2099", created_at="2099-03-04T05:06:07Z", updated_at="2099-03-04T05:06:07Z")
    fleet.talk("c2", "", "Of today", updated_at=(now - HOUR).isoformat())
    fleet.talk("c3", "", "Of 9999", created_at="9999-12-31T23:59:59Z", updated_at="9999-12-31T23:59:59Z")
    fleet.talk("c4", "", "Of this week", updated_at=(now - 50 * HOUR).isoformat())
    async with seated(answering(at_another_time(fleet, timedelta())), PROD, size=WIDE) as seat:
        await seat.sees("Of 9999", "Of today")
        order = [seat.list_screen.rows[each].title for each in seat.list_screen.table.ids]
        assert order == ["Of today", "Of this week", "Of 2099", "Of 9999"]
        assert "2099-03" in seat.line_of("Of 2099")
        assert "9999-12" in seat.line_of("Of 9999")
        await seat.go_to("c3", "i", sees=("9999-12-31 23:59Z", "ahead of any clock"))
        await seat.press("escape", "slash", *"updated<3d", until=lambda: len(seat.list_screen.table.ids) == 2)
