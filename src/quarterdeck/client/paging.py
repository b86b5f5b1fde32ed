"""Lists (SERVERS.md: lists and pages): all pages, batches of records by id, and responses as records."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.base import T, page_id
from quarterdeck.client.refusals import not_offered
from quarterdeck.client.request import UNKNOWN_RELEASE, Query, Request, Response, decoded
from quarterdeck.client.transport import Transport


class Record(Protocol):
    """A record with an id."""

    @property
    def id(self) -> str:
        """The id, which identifies it."""
        ...


R = TypeVar("R", bound=Record)
Batch = tuple[R | None, ...]
LARGE = 2**20
"""Bytes above which a response is parsed in slices, because a key press would have to wait."""
SLICE = 200
"""Records parsed per slice of such a response."""
BREAK = 0.01
"""Seconds between two slices: a key press needs several turns of the event loop, each of which may wait for one."""
SHOWN = "What was read before that is shown."
"""The advice for a list that is not read to its end."""
ANSWERS_KEPT = 8
"""Responses remembered; with many pages few are equal at the next reading, and each keeps its records in memory."""
_BEGIN = re.compile(r'\s*(?:\[|\{\s*"items"\s*:\s*\[)\s*')
_MARK = re.compile(r"\s*([,\]])\s*")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Records in the server's order; `unreadable` counts those that could not be read, `more` means that pages follow.

    Equal responses return the same object, so identity (`is`) shows that nothing changed.
    """

    items: tuple[T, ...]
    more: bool = False
    unreadable: int = 0
    perhaps_partial: bool = False
    """The whole response was one array with exactly as many records as a page holds: there may be more."""
    next_page_id: str | None = None
    """The id of the next page; a large response becomes several pages here, of which the last one has it."""


class Records(Generic[R]):
    """The records of one kind on a server; every failure is a ServiceError.

    `path` is that of the collection, `ids` the parameter that names records to read; `same` normalizes different
    spellings of an id.
    """

    def __init__(
        self, transport: Transport, kind: type[R], path: str, *, ids: str = "ids", same: Callable[[str], str] = str
    ) -> None:
        self._transport = transport
        self._reader = TypeAdapter(kind)
        self._path = path
        self._search = f"{path}/search"
        self._ids = ids
        self._same = same
        self._read: dict[bytes, list[Page[R]]] = {}
        """The parsed pages by digest of the response, the latest last."""
        self._answered: set[str] = set()
        """The paths of `newest` and `read` that have answered: a page may stand in front of the server for a while."""
        self._limit: Query = (("limit", str(transport.limits.page)),)
        """The query for the largest pages that servers allow."""

    def pages(self, *, background: bool = False) -> AsyncIterator[Page[R]]:
        """Read the whole list, in the server's order (mostly newest first), page by page."""
        return self._pages_at(self._search, self._limit, background=background)

    async def whole(self) -> tuple[R, ...]:
        """Return the whole list."""
        return tuple([record async for page in self.pages() for record in page.items])

    async def newest(self, *query: tuple[str, str], background: bool = False) -> Page[R]:
        """Return the first page of the list; empty if there is no such list, which is then not requested again."""
        pages = await self._if_offered(self._search, (*self._limit, *query), background=background)
        return _unseen(pages[0], set()) if pages else Page(())

    async def read(self, ids: Sequence[str], *, background: bool = False) -> Batch[R] | None:
        """Return these records in this order; None stands for an unknown id (SERVERS.md: batches by id).

        None instead of all means that this server has no such read: it does not know the path or the parameter, or it
        always returns a page of its list. It is then not requested again.
        """
        most = self._transport.limits.batch
        read: list[Page[R]] = []
        for start in range(0, len(ids), most):
            query = tuple((self._ids, record_id) for record_id in ids[start : start + most])
            pages = await self._if_offered(self._path, query, self._ids, background=background)
            if pages is None:
                return None
            read += pages
        batch = self._in_order(read, ids)
        if batch is None:
            self._answered.discard(self._path)
            self._transport.lacks.add(self._path)
        return batch

    async def find(self, record_id: str, *, background: bool = False) -> R | None:
        """Return one record, None if it does not exist; works without batch reads, too."""
        if (batch := await self.read((record_id,), background=background)) is not None:
            return batch[0]
        async for page in self.pages(background=background):
            for record in page.items:
                if record.id == record_id:
                    return record
        return None

    async def _pages_at(self, path: str, query: Query = (), *, background: bool = False) -> AsyncIterator[Page[R]]:
        """Read a list page by page, at least one, each record once: pages by offset overlap when new records arrive.

        Raises ServiceError if a page cannot be read: SHAPE if pages repeat or stay empty, TOO_LARGE if the list does
        not end. Pages before the error are valid.
        """
        limits = self._transport.limits
        wanted: str | None = None
        asked: set[str | None] = set()
        seen: set[str] = set()
        empty = 0
        while len(asked) < limits.pages:
            asked.add(wanted)
            found = False
            following = query if wanted is None else (*query, ("page_id", wanted))
            async for page in self._get(path, following, background=background):
                found = found or bool(page.items or page.unreadable)
                wanted = page.next_page_id
                yield _unseen(page, seen)
            if wanted is None:
                return
            empty = 0 if found else empty + 1
            if empty > limits.empty_pages:
                raise ServiceError(ErrorKind.SHAPE, "The list goes on without anything new in it.", SHOWN)
            if wanted in asked:
                raise ServiceError(ErrorKind.SHAPE, "The list runs in a circle: a page came twice.", SHOWN)
        raise ServiceError(ErrorKind.TOO_LARGE, f"The list does not end within {limits.pages} pages.", SHOWN)

    async def _if_offered(
        self, path: str, query: Query, name: str | None = None, *, background: bool
    ) -> list[Page[R]] | None:
        """Return the pages of one response; None if the server lacks the path, or the parameter `name` of a batch."""
        if path in self._transport.lacks:
            return None
        try:
            pages = [page async for page in self._get(path, query, background=background)]
        except ServiceError as error:
            lacking = not_offered(error) or (name is not None and _wants_other_than(name, error))
            if path in self._answered or not lacking:
                raise
            self._transport.lacks.add(path)
            return None
        self._answered.add(path)
        return pages

    def _in_order(self, pages: Sequence[Page[R]], ids: Sequence[str]) -> Batch[R] | None:
        """Sort responses into the requested order; None if they are just a part of the list, or all of it."""
        found = {self._same(item.id): item for page in pages for item in page.items}
        wanted = [self._same(record_id) for record_id in ids]
        missing = set(wanted) - found.keys()
        if found.keys() - set(wanted) and (missing or len(found) > self._transport.limits.page):
            return None
        unreadable = sum(page.unreadable for page in pages)
        if missing and unreadable:
            words = f"{unreadable} of {len(ids)} records cannot be read."
            raise ServiceError(ErrorKind.SHAPE, words, UNKNOWN_RELEASE)
        return tuple(found.get(record_id) for record_id in wanted)

    async def _get(self, path: str, query: Query, *, background: bool) -> AsyncIterator[Page[R]]:
        """Request records and parse the response, unless an equal one was parsed recently."""
        largest = self._transport.limits.list_body
        response = await self._transport.send(Request("GET", path, query, largest=largest, background=background))
        digest = blake2b(response.body).digest()
        pages = self._read.pop(digest, [])
        for page in pages:
            yield page
        if not pages:
            async for page in self._pages_of(response):
                pages.append(page)
                yield page
        self._read[digest] = pages
        if len(self._read) > ANSWERS_KEPT:
            del self._read[next(iter(self._read))]

    async def _pages_of(self, response: Response) -> AsyncIterator[Page[R]]:
        """Parse a response as one page, or as several if it is large.

        Nulls are left out, unreadable records are counted. Raises ServiceError: SHAPE for a page without a list,
        WRONG_API for anything else, BROKEN for incomplete JSON.
        """
        total = 0
        for members, answer in _slices(response):
            given = [member for member in members if member is not None]
            items = tuple(self._readable(given))
            unreadable = len(given) - len(items)
            total += len(members)
            partial = isinstance(answer, list) and total == self._transport.limits.page
            following = page_id(answer.get("next_page_id")) if isinstance(answer, dict) else None
            yield Page(items, answer is None or following is not None, unreadable, partial, following)
            if answer is None:
                await asyncio.sleep(BREAK)

    def _readable(self, members: Iterable[Any]) -> Iterator[R]:
        """Yield the readable records of a list."""
        for member in members:
            with suppress(ValidationError):
                yield self._reader.validate_python(member)


_Slice = tuple[list[Any], list[Any] | dict[str, Any] | None]
"""Members of a list; the last slice comes with the rest of the response."""


def _slices(response: Response) -> Iterator[_Slice]:
    """Yield the members of a list, in slices if it is large."""
    with suppress(ValueError, RecursionError):  # the error for what is not JSON comes below
        # As json.loads does, so that both read the same bodies.
        text = decoded(response.body, "surrogatepass") if len(response.body) > LARGE else ""
        if (begin := _BEGIN.match(text)) is not None:
            yield from _sliced(text, begin)
            return
    content = response.json()
    members = content.get("items") if isinstance(content, dict) else content
    if isinstance(members, list):
        yield members, content
    elif isinstance(content, dict) and "items" in content:
        raise response.wrong_shape("The server answered a list that cannot be read.")
    else:
        raise response.wrong_api("The server answered something that is not a list.")


def _sliced(text: str, begin: re.Match[str]) -> Iterator[_Slice]:
    """Yield the members of an array in slices; raises ValueError or RecursionError for invalid JSON."""
    decode, at = json.JSONDecoder().raw_decode, begin.end()
    members: list[Any] = []
    while True:
        member, at = decode(text, at)
        members.append(member)
        mark = _MARK.match(text, at)
        if mark is None:
            raise ValueError("neither a comma nor the end of the list")
        at = mark.end()
        if mark[1] == "]":
            break
        if len(members) == SLICE:
            yield members, None
            members = []
    yield members, json.loads(('{"items": []' if "{" in begin[0] else "[]") + text[at:])


def _unseen(page: Page[R], seen: set[str]) -> Page[R]:
    """Return a page without the records seen before, or the same object if none was seen."""
    new = {item.id: item for item in page.items if item.id not in seen}
    seen.update(new)
    return page if len(new) == len(page.items) else replace(page, items=tuple(new.values()))


def _wants_other_than(name: str, error: ServiceError) -> bool:
    """Whether a server requires another parameter, so that this path is a different kind of read."""
    return error.status == 422 and any(
        problem.location[:1] == ("query",) and problem.location[1:2] != (name,) for problem in error.problems
    )
