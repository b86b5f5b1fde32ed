"""A key given while there are unsaved edits: used at once, and the edits stay."""

from typing import Any

import pytest

from quarterdeck.client.flat import KNOWN_BY
from tests.client.fakes import Answer, Asked, FakeServer
from tests.settings.flat_server import FlatServer
from tests.tui_settings.conftest import Sit
from tests.tui_settings.form import FormSeat

ADA = {"git_user_name": "Ada", "email": "ada@example.org"}
BEN = {"git_user_name": "Ben", "email": "ben@example.org"}
REFUSED = Answer({"detail": "Unauthorized"}, 401)


class Keyed(FlatServer):
    """A server with a record for each key; one without a known key is told the old record, or refused."""

    def __init__(self, **records: dict[str, Any]) -> None:
        super().__init__()
        self.records = {key: self.record | dict.fromkeys(KNOWN_BY) | record for key, record in records.items()}
        self.refuses = False

    def __call__(self, asked: Asked) -> Answer | Exception:
        key = asked.headers.get("X-Session-API-Key", "")
        if self.refuses and key not in self.records:
            return REFUSED
        self.record = self.records.get(key, self.records["old"])
        return super().__call__(asked)


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
        server.refuses = True
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
