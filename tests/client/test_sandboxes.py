import httpx
import pytest

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from tests.client.fakes import NO_ROUTE, Answer, Asked, client_of

START = "POST /api/v1/sandboxes"
PAUSE, RESUME = "POST /api/v1/sandboxes/s1/pause", "POST /api/v1/sandboxes/s1/resume"
DONE = Answer({"success": True})
LOST: list[Answer | Exception] = [
    httpx.ReadTimeout(""),
    httpx.ReadError(""),
    httpx.RemoteProtocolError("Server disconnected without sending a response."),
    Answer({"detail": "no"}, 500),
    Answer(b"<h1>gateway</h1>", 504),
]


class Machine:
    """A server with one sandbox; `failures` are lost answers, before or after the request was obeyed."""

    def __init__(self, status: str, *failures: tuple[bool, Answer | Exception], batch: bool = True) -> None:
        self.status = status
        self.failures = list(failures)
        self.batch = batch

    def __call__(self, asked: Asked) -> Answer | Exception:
        if asked.method == "GET":
            record = {"id": "s1", "status": self.status}
            if asked.path.endswith("/search"):
                return Answer({"items": [record]})
            return Answer([record]) if self.batch else NO_ROUTE
        obeys, answer = self.failures.pop(0) if self.failures else (True, DONE)
        if obeys:
            self.status = "PAUSED" if asked.path.endswith("pause") else "STARTING"
        return answer


async def test_the_spec_goes_into_the_query_and_there_is_no_body() -> None:
    client, server = client_of({START: [Answer({"id": "s1", "status": "STARTING", "sandbox_spec_id": "img:1"})]})
    started = await client.sandboxes.start("ghcr.io/a/b:1.2-x y")
    assert (started.id, started.status) == ("s1", "STARTING")
    assert server.asked[0].query == (("sandbox_spec_id", "ghcr.io/a/b:1.2-x y"),)
    assert server.asked[0].content == b""
    await client.sandboxes.start(None)
    assert server.asked[1].query == ()


@pytest.mark.parametrize("lost", LOST)
async def test_a_start_whose_answer_is_lost_is_never_sent_again(lost: Answer | Exception) -> None:
    client, server = client_of({START: [lost]})
    with pytest.raises(ServiceError) as caught:
        await client.sandboxes.start("img")
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.UNKNOWN_OUTCOME, Outcome.UNKNOWN)
    assert len(server.asked) == 1


@pytest.mark.parametrize("unopened", [httpx.ConnectError(""), httpx.ConnectTimeout(""), httpx.PoolTimeout("")])
async def test_a_start_that_never_reached_the_server_is_sent_once_more(unopened: Exception) -> None:
    client, server = client_of({START: [unopened, Answer({"id": "s1", "status": "STARTING"})]})
    assert (await client.sandboxes.start()).id == "s1"
    client, server = client_of({START: [unopened]})
    with pytest.raises(ServiceError) as caught:
        await client.sandboxes.start()
    assert caught.value.outcome is Outcome.NOT_SENT
    assert len(server.asked) == 2


async def test_a_start_with_an_answer_nobody_can_read_has_happened() -> None:
    client, _ = client_of({START: [Answer({"success": True})]})
    with pytest.raises(ServiceError) as caught:
        await client.sandboxes.start()
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.SHAPE, Outcome.APPLIED)


@pytest.mark.parametrize(
    "answer", [DONE, Answer({}), Answer(b""), Answer(b"null"), Answer(b'"ok"'), Answer(b"", 204), Answer([], 202)]
)
async def test_any_answer_of_success_to_pause_and_resume_is_one(answer: Answer) -> None:
    client, server = client_of({PAUSE: [answer], RESUME: [answer]})
    await client.sandboxes.pause("s1")
    await client.sandboxes.resume("s1")
    assert [asked.path.rsplit("/", 1)[1] for asked in server.asked] == ["pause", "resume"]


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("batch", [True, False])
async def test_a_lost_answer_of_a_pause_that_was_done_is_a_success(lost: Answer | Exception, batch: bool) -> None:
    client, server = client_of(Machine("RUNNING", (True, lost), batch=batch))
    await client.sandboxes.pause("s1")
    assert len(server.sent("POST")) == 1


@pytest.mark.parametrize("lost", LOST)
async def test_a_pause_that_was_not_done_is_sent_once_more(lost: Answer | Exception) -> None:
    machine = Machine("STARTING", (False, lost))
    client, server = client_of(machine)
    await client.sandboxes.pause("s1")
    assert (machine.status, len(server.sent("POST"))) == ("PAUSED", 2)
    client, server = client_of(Machine("RUNNING", *[(False, lost)] * 5))
    with pytest.raises(ServiceError) as caught:
        await client.sandboxes.pause("s1")
    answered = isinstance(lost, Answer) and lost.status == 500
    assert caught.value.outcome is (Outcome.NOT_APPLIED if answered else Outcome.UNKNOWN)
    assert len(server.sent("POST")) == 2


async def test_a_resume_is_settled_by_any_sign_of_life() -> None:
    client, server = client_of(Machine("PAUSED", (True, LOST[0])))
    await client.sandboxes.resume("s1")
    assert len(server.sent("POST")) == 1


@pytest.mark.parametrize("status", ["ERROR", "MISSING", "SLEEPING"])
async def test_a_reading_that_settles_nothing_leaves_it_unknown(status: str) -> None:
    for verb in ("pause", "resume"):
        client, server = client_of(Machine(status, (False, LOST[0])))
        with pytest.raises(ServiceError) as caught:
            await getattr(client.sandboxes, verb)("s1")
        assert caught.value.outcome is Outcome.UNKNOWN
        assert len(server.sent("POST")) == 1


async def test_a_delete_names_one_id_in_both_places() -> None:
    client, server = client_of(lambda _: DONE)
    await client.sandboxes.delete("a/b&c")
    assert server.asked[0].path == "/api/v1/sandboxes/a%2Fb%26c"
    assert server.asked[0].query == (("sandbox_id", "a/b&c"),)
