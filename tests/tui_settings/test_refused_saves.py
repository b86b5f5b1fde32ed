"""Saves that a server refuses: said in plain words, every edit kept, nothing of what was sent repeated."""

from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.kept import Journal
from tests.client.fakes import NO_ROUTE, Answer, Asked, FakeServer
from tests.tui_settings.conftest import Sit
from tests.tui_settings.form import FormSeat


class Refusing:
    """A flat server that takes no store; `answers` are what it says, the last one for ever."""

    def __init__(self, *answers: Answer) -> None:
        self.record = Settings().model_dump(mode="json") | {"git_user_name": "Ada", "llm_model": "a/b"}
        self.answers = list(answers)
        self.meanwhile: dict[str, object] = {}
        """What somebody else stores just before the next answer."""
        self.refusal: Answer | None = None
        """What a reading is answered with instead of the record."""

    def __call__(self, asked: Asked) -> Answer:
        if asked.path != "/api/settings":
            return NO_ROUTE
        if asked.method == "GET":
            return self.refusal or Answer(self.record)
        self.record |= self.meanwhile
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.status < 300:
            self.record |= {name: value for name, value in asked.body.items() if value is not None}
        return answer


async def save_a_name(seat: FormSeat) -> None:
    await seat.edit("git_user_name", "Grace")
    await seat.press("ctrl+s")
    await seat.agree()


REFUSALS = (
    (Answer({"detail": "Unauthorized"}, 401), "The key is missing or not the right one"),
    (Answer({"detail": "Forbidden"}, 403), "The server does not allow this"),
    (Answer({"detail": "Not Found"}, 404), "The settings are not where they were"),
    (Answer({"detail": "Too large"}, 413), "The server refuses this as too large (status 413): Too large"),
)


async def test_a_refusal_is_said_and_the_edits_are_kept(sit_before: Sit) -> None:
    refusing = Refusing(Answer({}, 500))
    async with sit_before(FakeServer(refusing)) as seat:
        for answer, words in REFUSALS:
            refusing.answers = [answer]
            await save_a_name(seat)
            await seat.until(lambda: f"Not saved: {words}"[:60] in seat.unwrapped)  # noqa: B023
            assert seat.form.draft.changes == {"git_user_name": "Grace"}
        await seat.choose("Undo save")
        assert (await seat.deck.state.read(Journal, seat.deck.endpoint.about)) is None


async def test_a_complaint_about_a_server_of_the_list_stands_at_its_row_without_what_was_sent(sit_before: Sit) -> None:
    detail = [
        {"loc": ["body", "mcp_config", "stdio_servers", 0, "command"], "msg": "no such tool", "input": "sentinel-input"}
    ]
    server = Refusing(Answer({"detail": detail}, 422))
    server.record["mcp_config"] = {"stdio_servers": [{"name": "db", "command": "uvx"}]}
    async with sit_before(FakeServer(server)) as seat:
        await save_a_name(seat)
        await seat.sees("error")
        assert seat.form.row.id == "mcp:0"
        assert "sentinel" not in seat.deck.export_screenshot()
        assert "no such tool" in " ".join(seat.text.split())


async def test_when_somebody_was_faster_the_save_begins_anew(sit_before: Sit) -> None:
    refusing = Refusing(Answer({"detail": "It changed"}, 409), Answer({"message": "Settings stored"}))
    server = FakeServer(refusing)
    async with sit_before(server) as seat:
        await seat.edit("git_user_name", "Grace")
        await seat.press("ctrl+s")
        await seat.sees("Review the changes")
        refusing.meanwhile = {"language": "fr"}
        await seat.press("y")
        await seat.until(lambda: "It changed. Changed there meanwhile: Language." in seat.unwrapped)
        await seat.agree()
        await seat.sees("Saved · 1 of 1 verified")
        assert len(server.sent("POST")) == 2


async def test_settings_that_are_not_offered_any_more_are_no_first_run(sit_before: Sit) -> None:
    refusing = Refusing(Answer({"message": "Settings stored"}))
    server = FakeServer(refusing)
    async with sit_before(server) as seat:
        await seat.edit("git_user_name", "Grace")
        for status in (405, 410):
            refusing.refusal = Answer({"detail": "Gone"}, status)
            await seat.press("ctrl+r", "ctrl+s")
            await seat.sees("1 edited", "Not saved")
            assert "changed on server" not in seat.text
        assert seat.form.draft.was("llm_model") == "a/b"
        assert server.sent("POST") == []


async def test_a_key_the_server_does_not_tell_of_is_not_called_not_stored(
    sit_before: Sit,
) -> None:
    refusing = Refusing(Answer({"message": "Settings stored"}))
    for name in ("llm_api_key_set", "search_api_key_set"):
        refusing.record.pop(name, None)
    async with sit_before(FakeServer(refusing)) as seat:
        await seat.go_to("llm_api_key")
        await seat.sees("this server does not tell")
        assert "not stored" not in seat.text
