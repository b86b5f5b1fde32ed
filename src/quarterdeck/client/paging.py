"""Lists: all their pages, batches of records by id, and bytes as records."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar

from pydantic import ValidationError

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.base import Listed, T
from quarterdeck.client.refusals import not_offered
from quarterdeck.client.request import UNKNOWN_RELEASE, Query, Request, Response
from quarterdeck.client.transport import Transport


class Record(Protocol):
    """A record with an id of its own."""

    @property
    def id(self) -> str:
        """What tells it from the others."""
        ...


R = TypeVar("R", bound=Record)
Batch = tuple[R | None, ...]
LARGE = 2**20
"""Bytes of an answer that are not read at once, for a key would wait for it."""
SLICE = 200
"""Records that are read of such an answer at a time."""
PAUSE = 0.01
"""Seconds between two such slices: a key takes several turns of the event loop, and would wait for a slice in each."""
ANSWERS_KEPT = 8
"""Of a list of many pages few are the same at the next reading, and each would keep its records a second time."""
_BEGIN = re.compile(r'\s*(?:\[|\{\s*"items"\s*:\s*\[)\s*')
_MARK = re.compile(r"\s*([,\]])\s*")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Records in the server's order; `unreadable` counts those that could not be read, `more` says that pages follow.

    Equal answers give the same object, so `is` tells that nothing changed.
    """

    items: tuple[T, ...]
    more: bool = False
    unreadable: int = 0
    perhaps_partial: bool = False
    """The whole answer was one array of just as many records as a page holds: there may be others."""
    next_page_id: str | None = None
    """Where the server goes on; a large answer is several pages here, and the last of them has it."""


class Records(Generic[R]):
    """One kind of record on one server; `same` brings two spellings of one id together."""

    def __init__(self, transport: Transport, listed: type[Listed[R]], same: Callable[[str], str] = str) -> None:
        self._transport = transport
        self._listed = listed
        self._same = same
        self._read: dict[bytes, list[Page[R]]] = {}
        """Digest of an answer -> what it was read as, the latest last."""
        self.limit: Query = (("limit", str(transport.limits.page)),)
        """The query for pages as large as servers give them."""

    async def pages(self, path: str, query: Query = (), *, background: bool = False) -> AsyncIterator[Page[R]]:
        """Read a list page by page, each record once: offset pages overlap whenever something new arrives.

        Raises ServiceError when a page cannot be read, SHAPE when the list runs in a circle or on without records, and
        TOO_LARGE when it does not end; the pages before are good.
        """
        limits = self._transport.limits
        page_id: str | None = None
        asked: set[str | None] = set()
        seen: set[str] = set()
        empty = 0
        while len(asked) < limits.pages:
            asked.add(page_id)
            found, next_page_id = False, None
            following = query if page_id is None else (*query, ("page_id", page_id))
            async for page in self._ask(path, following, background=background):
                found = found or bool(page.items or page.unreadable)
                next_page_id = page.next_page_id
                yield _unseen(page, seen)
            page_id = next_page_id
            if page_id is None:
                return
            empty = 0 if found else empty + 1
            if empty > limits.empty_pages:
                raise _endless(ErrorKind.SHAPE, "The list goes on without anything new in it.", path)
            if page_id in asked:
                raise _endless(ErrorKind.SHAPE, "The list runs in a circle: a page came twice.", path)
        raise _endless(ErrorKind.TOO_LARGE, f"The list does not end within {limits.pages} pages.", path)

    async def whole(self, path: str) -> tuple[R, ...]:
        """Read a list to its end, as `pages` does."""
        return tuple([record async for page in self.pages(path, self.limit) for record in page.items])

    async def newest(self, path: str, *query: tuple[str, str], background: bool = False) -> tuple[R, ...]:
        """Read the first page of a list."""
        async for page in self.pages(path, (*self.limit, *query), background=background):
            return page.items
        return ()

    async def newest_if_offered(self, path: str, *query: tuple[str, str], background: bool = False) -> tuple[R, ...]:
        """Read the first page of a list; nothing where a server has none, which is asked only once."""
        if path in self._transport.lacks:
            return ()
        try:
            return await self.newest(path, *query, background=background)
        except ServiceError as error:
            if not not_offered(error):
                raise
            self._transport.lacks.add(path)
        return ()

    async def batch(self, path: str, name: str, ids: Sequence[str], *, background: bool = False) -> Batch[R] | None:
        """Read records by their ids, in the order asked, None for one that is not there.

        None for all of it says that this server has no such read: it does not know the path or the parameter, or it
        answers with a page of its list whatever it is asked. It is not asked again.
        """
        if path in self._transport.lacks:
            return None
        most = self._transport.limits.batch
        pages: list[Page[R]] = []
        for start in range(0, len(ids), most):
            query = tuple((name, record_id) for record_id in ids[start : start + most])
            try:
                pages += [page async for page in self._ask(path, query, background=background)]
            except ServiceError as error:
                if not not_offered(error) and not _wants_other_than(name, error):
                    raise
                self._transport.lacks.add(path)
                return None
        batch = self._in_order(pages, ids, path)
        if batch is None:
            self._transport.lacks.add(path)
        return batch

    def _in_order(self, pages: Sequence[Page[R]], ids: Sequence[str], path: str) -> Batch[R] | None:
        """Put answers into the order asked; None when they are part of a list, or a long one, whatever was asked."""
        found = {self._same(item.id): item for page in pages for item in page.items}
        wanted = [self._same(record_id) for record_id in ids]
        missing = set(wanted) - found.keys()
        if found.keys() - set(wanted) and (missing or len(found) > self._transport.limits.page):
            return None
        unreadable = sum(page.unreadable for page in pages)
        if missing and unreadable:
            words = f"{unreadable} of {len(ids)} records cannot be read."
            raise ServiceError(ErrorKind.SHAPE, words, UNKNOWN_RELEASE, request=f"GET {path}")
        return tuple(found.get(record_id) for record_id in wanted)

    async def _ask(self, path: str, query: Query, *, background: bool) -> AsyncIterator[Page[R]]:
        """Ask for records and read the answer; one that equals an answer before is not read again."""
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
        """Read an answer as a page, a large one as several.

        Nulls are left out, records that cannot be read are counted. Raises ServiceError: SHAPE for a page without a
        list, WRONG_API for anything else that is none, BROKEN for half of one.
        """
        if (page := self._at_once(response.body)) is not None:
            yield page
            return
        total, full = 0, self._transport.limits.page
        for members, answer in _slices(response):
            items, unreadable = self._readable(members)
            total += len(members)
            if answer is None:
                yield Page(items, more=True, unreadable=unreadable)
                await asyncio.sleep(PAUSE)
            elif isinstance(answer, list):
                yield Page(items, unreadable=unreadable, perhaps_partial=total == full)
            else:
                page_id = self._listed.model_validate({**answer, "items": ()}).next_page_id
                yield Page(items, page_id is not None, unreadable, next_page_id=page_id)

    def _at_once(self, body: bytes) -> Page[R] | None:
        """An answer in which all can be read, if it is not large."""
        if len(body) > LARGE:
            return None
        bare = body.lstrip().startswith(b"[")
        try:
            listed = self._listed.model_validate_json(b'{"items":%b}' % body if bare else body)
        except ValidationError:
            return None
        partial = bare and len(listed.items) == self._transport.limits.page
        page_id = listed.next_page_id
        return Page(_without_nulls(listed.items), page_id is not None, 0, partial, page_id)

    def _readable(self, members: list[Any]) -> tuple[tuple[R, ...], int]:
        """The records of a list that can be read, and how many cannot."""
        items: list[R | None] = []
        try:
            items += self._listed.model_validate({"items": members}).items
        except ValidationError:
            for member in members:
                with suppress(ValidationError):
                    items += self._listed.model_validate({"items": [member]}).items
        return _without_nulls(items), len(members) - len(items)


async def first(pages: AsyncIterator[Page[R]], record_id: str) -> R | None:
    """Look for a record in a list where no record is read by its id."""
    async for page in pages:
        for record in page.items:
            if record.id == record_id:
                return record
    return None


def _without_nulls(items: Iterable[R | None]) -> tuple[R, ...]:
    return tuple(item for item in items if item is not None)


_Slice = tuple[list[Any], list[Any] | dict[str, Any] | None]
"""Members of a list; with the last ones comes the answer, whatever of its list is left in it."""


def _slices(response: Response) -> Iterator[_Slice]:
    """The members of a list, of a large one some after the others."""
    try:
        text = response.body.decode() if len(response.body) > LARGE else ""
        if (begin := _BEGIN.match(text)) is not None:
            yield from _sliced(text, begin)
            return
    except (ValueError, RecursionError):
        response.json()
        raise _no_list(response) from None
    content = response.json()
    members = content.get("items") if isinstance(content, dict) else content
    if isinstance(members, list):
        yield members, content
    elif isinstance(content, dict) and "items" in content:
        raise response.wrong_shape("The server answered a list that cannot be read.")
    else:
        raise _no_list(response)


def _sliced(text: str, begin: re.Match[str]) -> Iterator[_Slice]:
    """The members of an array from where it begins; raises ValueError or RecursionError for what is no JSON."""
    decode, at = json.JSONDecoder().raw_decode, begin.end()
    members: list[Any] = []
    while text[at : at + 1] != "]" or members:
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
    """A page without the records that came before; one that has none of them is given as it is."""
    ids = {item.id for item in page.items}
    if len(ids) == len(page.items) and seen.isdisjoint(ids):
        seen |= ids
        return page
    items: list[R] = []
    for item in page.items:
        if item.id not in seen:
            seen.add(item.id)
            items.append(item)
    return replace(page, items=tuple(items))


def _wants_other_than(name: str, error: ServiceError) -> bool:
    """Whether a server asks for a parameter of another name: then it has another kind of read at this path."""
    return error.status == 422 and any(
        problem.location[:1] == ("query",) and problem.location[1:2] != (name,) for problem in error.problems
    )


def _no_list(response: Response) -> ServiceError:
    return response.wrong_api("The server answered something that is not a list.")


def _endless(kind: ErrorKind, words: str, path: str) -> ServiceError:
    return ServiceError(kind, words, "What was read until then is shown.", request=f"GET {path}")
