"""A key given while there are unsaved edits: used at once, and the edits stay."""

from typing import Any

import pytest

from quarterdeck.client.flat import KNOWN_BY
from quarterdeck.client.models.settings import Settings
from tests.client.fakes import NO_ROUTE, Answer, Asked, FakeServer
from tests.tui_settings.conftest import Sit
from tests.tui_settings.form import FormSeat

ADA = {"git_user_name": "Ada", "email": "ada@example.org"}
BEN = {"git_user_name": "Ben", "email": "ben@example.org"}
REFUSED = Answer({"detail": "Unauthorized"}, 401)


class Keyed:
    """A flat server with a record for each key; without a known one it refuses, but for what was asked `before`."""

    def __init__(self, **records: dict[str, Any]) -> None:
        usual = Settings().model_dump(mode="json") | dict.fromkeys(KNOWN_BY)
        self.records = {key: usual | record for key, record in records.items()}
        self.open: dict[str, Any] | None = self.records["old"]
        """What is told without a key."""

    def __call__(self, asked: Asked) -> Answer:
        record = self.records.get(asked.headers.get("X-Session-API-Key", ""), self.open)
        if record is None:
            return REFUSED
        if asked.path != "/api/settings":
            return NO_ROUTE
        if asked.method == "POST":
            record |= asked.body
            return Answer({"message": "Settings stored"})
        return Answer(record)


async def give_key(seat: FormSeat, key: str) -> None:
    await seat.press("c", sees="Connections")
    await seat.press("K", sees="paste or type it")
    await seat.type(key, "enter")


@pytest.mark.parametrize("meant", [None, True, False])
async def test_edits_stay_with_a_new_key_and_on_another_persons_record_the_deck_asks_whether_they_are_meant_for_it(
    sit_before: Sit, meant: bool | None
) -> None:
    server = Keyed(old=ADA, new=ADA if meant is None else BEN)
    async with sit_before(FakeServer(server)) as seat:
        await seat.edit("git_user_name", "Grace")
        server.open = None
        await give_key(seat, "new")
        if meant is None:
            await seat.save_verified(1)
            assert server.records["new"]["git_user_name"] == "Grace"
            return
        await seat.sees("Are the edits meant for these settings?", "ada@example.org", "ben@example.org")
        await seat.press("y" if meant else "n")
        if meant:
            await seat.sees("1 edited", "changed on server")
        else:
            await seat.until(lambda: seat.form.draft.was("git_user_name") == "Ben")
            assert not seat.form.draft.edited
            await seat.press("ctrl+z", sees=("1 edited", "Grace"))
        assert seat.form.draft.changes == {"git_user_name": "Grace"}
    assert server.records["new"]["git_user_name"] == "Ben"
