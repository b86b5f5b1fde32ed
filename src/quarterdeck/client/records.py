"""One kind of record on one server: its pages and its batches."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Generic, NamedTuple

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.listing import ListReader, R, Reading, Validate
from quarterdeck.client.memo import Memo, digest
from quarterdeck.client.models.page import Page
from quarterdeck.client.passes import Pass, Taken
from quarterdeck.client.refusals import not_offered
from quarterdeck.client.request import Query, Request, Response
from quarterdeck.client.transport import Transport

BATCHES_KEPT = 8
Batch = tuple[R | None, ...]


def exactly(record_id: str) -> str:
    """An id as it is."""
    return record_id


class Records(Generic[R]):
    """Reads lists of one kind of record with the guards of reliability.md (faults 22 to 29).

    `same` brings two spellings of one id together. Equal bytes to the same question give the same object.
    """

    def __init__(self, transport: Transport, validate: Validate[R], same: Callable[[str], str] = exactly) -> None:
        self._transport = transport
        self._reader = ListReader(validate)
        self._same = same
        self._pages: Memo[Reading[R]] = Memo(transport.limits.pages)
        self._whole: dict[tuple[str, Query], Sequence[Taken[R]]] = {}
        """The pages of the last whole reading of each list."""
        self._batches: Memo[_Answers[R]] = Memo(BATCHES_KEPT)
        self._batch_offered = True

    def forget(self) -> None:
        """Forget that a read was not offered: another server may answer now."""
        self._batch_offered = True

    async def pages(self, path: str, query: Query = (), *, background: bool = False) -> AsyncIterator[Page[R]]:
        """Read a list page by page, each record once.

        Raises ServiceError when a page cannot be read, SHAPE when the list runs in a circle or on without records, and
        TOO_LARGE when it does not end; the pages before are good.
        """
        limits = self._transport.limits
        current = Pass(self._whole.get((path, query), ()))
        visited: set[str] = set()
        page_id: str | None = None
        empty = 0
        for _ in range(limits.pages):
            asked = query if page_id is None else (*query, ("page_id", page_id))
            page = current.add(await self._page(Request("GET", path, asked, background=background)))
            yield page
            page_id = page.next_page_id
            if page_id is None:
                self._whole[path, query] = current.pages
                self._pages.keep_latest(len(current.pages))
                return
            empty = 0 if page.items or page.unreadable else empty + 1
            if empty > limits.empty_pages:
                raise _endless(ErrorKind.SHAPE, "The list goes on without anything new in it.", path)
            if page_id in visited:
                raise _endless(ErrorKind.SHAPE, "The list runs in a circle: a page came twice.", path)
            visited.add(page_id)
        raise _endless(ErrorKind.TOO_LARGE, f"The list does not end within {limits.pages} pages.", path)

    async def batch(self, path: str, name: str, ids: Sequence[str], *, background: bool = False) -> Batch[R] | None:
        """Read records by their ids, in the order asked, None for one that is not there.

        None for all of it says that this server has no such read: it does not know the path or the parameter, or it
        answers with a page of its list whatever it is asked. It is not asked again.
        """
        if not self._batch_offered:
            return None
        size = self._transport.limits.batch
        responses: list[Response] = []
        for start in range(0, len(ids), size):
            query = tuple((name, record_id) for record_id in ids[start : start + size])
            try:
                responses.append(await self._transport.send(Request("GET", path, query, background=background)))
            except ServiceError as error:
                if not not_offered(error) and not _wants_other_than(name, error):
                    raise
                self._batch_offered = False
                return None
        source = tuple([digest(response.body) for response in responses])
        answers = self._batches.same((path, *ids), source, lambda before: self._answers(responses, ids, path, before))
        self._batch_offered = answers.in_order is not None
        return answers.in_order

    async def _page(self, request: Request) -> Page[R]:
        response = await self._transport.send(request)
        return self._pages.same(
            (request.path, request.query),
            digest(response.body),
            lambda before: self._reader.read(response.body, str(request), before),
        ).page

    def _answers(
        self, responses: Sequence[Response], ids: Sequence[str], path: str, before: "_Answers[R] | None"
    ) -> "_Answers[R]":
        known: Sequence[Reading[R] | None] = before.readings if before is not None else [None] * len(responses)
        readings = [
            self._reader.read(response.body, f"GET {path}", reading)
            for response, reading in zip(responses, known, strict=True)
        ]
        return _Answers(readings, self._in_order([reading.page for reading in readings], ids, path))

    def _in_order(self, pages: Sequence[Page[R]], ids: Sequence[str], path: str) -> Batch[R] | None:
        """Put answers into the order asked; None when they are part of a list and prove nothing about the ids."""
        found = {self._same(item.id): item for page in pages for item in page.items}
        wanted = [self._same(record_id) for record_id in ids]
        missing = set(wanted) - found.keys()
        if missing and found.keys() - set(wanted):
            return None
        unreadable = sum(page.unreadable for page in pages)
        if missing and unreadable:
            words = f"{unreadable} of {len(ids)} records cannot be read."
            raise ServiceError(ErrorKind.SHAPE, words, "The server may be of a release not known here.", request=path)
        return tuple(found.get(record_id) for record_id in wanted)


class _Answers(NamedTuple, Generic[R]):
    """What a batch was answered with, response by response, and all of it in the order asked."""

    readings: Sequence[Reading[R]]
    in_order: Batch[R] | None


def _wants_other_than(name: str, error: ServiceError) -> bool:
    """Whether a server asks for a parameter of another name: then it has another kind of read at this path."""
    return error.status == 422 and any(
        problem.location[:1] == ("query",) and problem.location[1:2] != (name,) for problem in error.problems
    )


def _endless(kind: ErrorKind, words: str, path: str) -> ServiceError:
    return ServiceError(kind, words, "What was read until then is shown.", request=f"GET {path}")
