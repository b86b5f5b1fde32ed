"""What becomes of an answer: unpacked within a size, and taken only when it is one of the service."""

from collections.abc import Iterable

from quarterdeck.client.bodies import Unpacker, wrong_api
from quarterdeck.client.calls import Call, Reply
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.refusals import refusal
from quarterdeck.client.road import Answer


async def received(call: Call, answer: Answer, most: int) -> Reply:
    """Read a body of up to `most` bytes when unpacked.

    Raises ServiceError: TOO_LARGE, WRONG_API for a packing nobody asked for; zlib.error for a broken one.
    """
    status, headers = answer.status, answer.headers
    try:
        unpacker = Unpacker(headers.get("content-encoding", "").strip().lower(), most)
    except ValueError:
        raise wrong_api("The server packs its answers in a way nobody asked for.", str(call), status) from None
    async for piece in answer:
        if not unpacker.feed(piece):
            words = f"The answer is larger than {most / 2**20:g} MB."
            advice = "Check the address: the service has no answers of this size."
            raise ServiceError(ErrorKind.TOO_LARGE, words, advice, request=str(call), status=status)
    return Reply(
        status,
        bytes(unpacker.body),
        content_type=headers.get("content-type", ""),
        retry_after=headers.get("retry-after"),
        location=headers.get("location"),
    )


def accepted(call: Call, reply: Reply, host: str, secrets: Iterable[str]) -> Reply:
    """Pass on an answer of status 2xx that is data.

    Raises ServiceError for every other; `secrets` are taken out of whatever the server says.
    """
    if not 200 <= reply.status < 300:
        raise refusal(call, reply, secrets)
    if reply.is_html:
        raise wrong_api(f"{host} answered with a web page instead of data.", str(call), reply.status)
    return reply
