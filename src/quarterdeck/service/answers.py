"""What becomes of an answer: unpacked within a size, and taken only when it is one of the service."""

from collections.abc import AsyncIterator, Iterable, Mapping

from quarterdeck.service.bodies import Unpacker, wrong_api
from quarterdeck.service.calls import Call, Reply
from quarterdeck.service.errors import ErrorKind, ServiceError
from quarterdeck.service.refusals import refusal


async def received(
    call: Call, status: int, headers: Mapping[str, str], pieces: AsyncIterator[bytes], most: int
) -> Reply:
    """Read a body of up to `most` bytes when unpacked; `headers` are found however their names are written.

    Raises ServiceError: TOO_LARGE, WRONG_API for a packing nobody asked for; zlib.error for a broken one.
    """
    try:
        unpacker = Unpacker(headers.get("Content-Encoding", "").strip().lower(), most)
    except ValueError:
        raise wrong_api("The server packs its answers in a way nobody asked for.", str(call), status) from None
    async for piece in pieces:
        if not unpacker.feed(piece):
            words = f"The answer is larger than {most / 2**20:g} MB."
            advice = "Check the address: the service has no answers of this size."
            raise ServiceError(ErrorKind.TOO_LARGE, words, advice, request=str(call), status=status)
    return Reply(
        status,
        bytes(unpacker.body),
        content_type=headers.get("Content-Type", ""),
        retry_after=headers.get("Retry-After"),
        location=headers.get("Location"),
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
