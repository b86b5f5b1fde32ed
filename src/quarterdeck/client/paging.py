"""Lists: all their pages, batches of records by id, and bytes as records."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.base import Listed, T
from quarterdeck.client.refusals import not_offered
from quarterdeck.client.request import Query, Request, Response, read_json, wrong_api, wrong_shape
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
"""Records that are read of such an answer between two turns of the event loop."""
BATCHES_KEPT = 8
_BEGIN = re.compile(r'\s*(?:\[|\{\s*"items"\s*:\s*\[)\s*')
_MARK = re.compile(r"\s*([,\]])\s*")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Records in the server's order; `unreadable` counts those that could not be read, `more` says that pages follow.

    Equal answers to the same question give the same object, so `is` tells that nothing changed.
    """

    items: tuple[T, ...]
    more: bool = False
    unreadable: int = 0
    perhaps_partial: bool = False
    """The whole answer was one array of just as many records as a page holds: there may be others."""


class _Read(NamedTuple, Generic[R]):
    """What an answer was read as: a page, or several where it was large."""

    digest: bytes
    pages: tuple[Page[R], ...]
    next_page_id: str | None


def exactly(record_id: str) -> str:
    """An id as it is."""
    return record_id


class Records(Generic[R]):
    """One kind of record on one server; `same` brings two spellings of one id together."""

    def __init__(self, transport: Transport, listed: type[Listed[R]], same: Callable[[str], str] = exactly) -> None:
        self._transport = transport
        self._listed = listed
        self._same = same
        self._lists: dict[tuple[str, Query], dict[str | None, _Read[R]]] = {}
        """What the last reading of each list consists of, by page id."""
        self._batches: dict[tuple[str, ...], tuple[bytes, Batch[R] | None]] = {}
        self._batch_offered = True
        self.limit: Query = (("limit", str(transport.limits.page)),)
        """The query for pages as large as servers give them."""

    def forget(self) -> None:
        """Forget that a read was not offered: another server may answer now."""
        self._batch_offered = True

    async def pages(self, path: str, query: Query = (), *, background: bool = False) -> AsyncIterator[Page[R]]:
        """Read a list page by page, each record once: offset pages overlap whenever something new arrives.

        Raises ServiceError when a page cannot be read, SHAPE when the list runs in a circle or on without records, and
        TOO_LARGE when it does not end; the pages before are good.
        """
        limits = self._transport.limits
        before, read = self._lists.get((path, query), {}), dict[str | None, _Read[R]]()
        page_id: str | None = None
        seen: set[str] = set()
        empty = 0
        while len(read) < limits.pages:
            asked = query if page_id is None else (*query, ("page_id", page_id))
            request = Request("GET", path, asked, largest=limits.list_body, background=background)
            response = await self._transport.send(request)
            digest, known = blake2b(response.body).digest(), before.get(page_id)
            if known is not None and known.digest == digest:
                for page in known.pages:
                    yield _unseen(page, seen)
            else:
                parts: list[tuple[Page[R], str | None]] = []
                async for part in self._read(response, request):
                    parts.append(part)
                    yield _unseen(part[0], seen)
                known = _Read(digest, tuple(page for page, _ in parts), parts[-1][1])
            read[page_id], page_id = known, known.next_page_id
            if page_id is None:
                self._lists[path, query] = read
                return
            empty = 0 if any(page.items or page.unreadable for page in known.pages) else empty + 1
            if empty > limits.empty_pages:
                raise _endless(ErrorKind.SHAPE, "The list goes on without anything new in it.", path)
            if page_id in read:
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

    async def batch(self, path: str, name: str, ids: Sequence[str], *, background: bool = False) -> Batch[R] | None:
        """Read records by their ids, in the order asked, None for one that is not there.

        None for all of it says that this server has no such read: it does not know the path or the parameter, or it
        answers with a page of its list whatever it is asked. It is not asked again.
        """
        if not self._batch_offered:
            return None
        limits, digest = self._transport.limits, blake2b()
        answers: list[tuple[Request, Response]] = []
        for start in range(0, len(ids), limits.batch):
            query = tuple((name, record_id) for record_id in ids[start : start + limits.batch])
            request = Request("GET", path, query, largest=limits.list_body, background=background)
            try:
                response = await self._transport.send(request)
            except ServiceError as error:
                if not not_offered(error) and not _wants_other_than(name, error):
                    raise
                self._batch_offered = False
                return None
            answers.append((request, response))
            digest.update(response.body)
        known = self._batches.pop((path, *ids), None)
        if known is None or known[0] != digest.digest():
            pages = [page for request, response in answers async for page, _ in self._read(response, request)]
            known = (digest.digest(), self._in_order(pages, ids, path))
        self._batches[path, *ids] = known
        if len(self._batches) > BATCHES_KEPT:
            del self._batches[next(iter(self._batches))]
        self._batch_offered = known[1] is not None
        return known[1]

    def _in_order(self, pages: Sequence[Page[R]], ids: Sequence[str], path: str) -> Batch[R] | None:
        """Put answers into the order asked; None when they are part of a list, or a long one, whatever was asked."""
        found = {self._same(item.id): item for page in pages for item in page.items}
        wanted = [self._same(record_id) for record_id in ids]
        missing = set(wanted) - found.keys()
        if found.keys() - set(wanted) and (missing or len(found) > self._transport.limits.page):
            return None
        unreadable = sum(page.unreadable for page in pages)
        if missing and unreadable:
            raise wrong_shape(f"{unreadable} of {len(ids)} records cannot be read.", path)
        return tuple(found.get(record_id) for record_id in wanted)

    async def _read(self, response: Response, request: Request) -> AsyncIterator[tuple[Page[R], str | None]]:
        """Read an answer as a page and the id of the next one; a large one as several, which only the last one has.

        Nulls are left out, records that cannot be read are counted. Raises ServiceError: SHAPE for a page without a
        list, WRONG_API for anything else that is none, BROKEN for half of one.
        """
        try:
            text = response.body.decode() if len(response.body) > LARGE else ""
        except UnicodeDecodeError:
            text = ""
        begin = _BEGIN.match(text)
        if begin is None:
            yield self._read_at_once(response, request)
            return
        total = 0
        try:
            for members, rest in _slices(text, begin.end()):
                items, unreadable = self._readable(members)
                total += len(members)
                if rest is None:
                    yield Page(items, more=True, unreadable=unreadable), None
                    await asyncio.sleep(0)
                    continue
                others = json.loads(('{"items": []' if "{" in begin[0] else "[]") + rest)
                yield self._page(items, unreadable, others, total)
        except (ValueError, RecursionError):
            read_json(response.body, str(request), response.status)
            raise _no_list(request) from None

    def _read_at_once(self, response: Response, request: Request) -> tuple[Page[R], str | None]:
        body = response.body
        bare = body.lstrip()[:1] == b"["
        try:
            listed = self._listed.model_validate_json(b'{"items":%b}' % body if bare else body)
        except ValidationError:
            content = read_json(body, str(request), response.status)
            members = content if isinstance(content, list) else content.get("items") if isinstance(content, dict) else 0
            if isinstance(content, dict) and "items" in content and not isinstance(members, list):
                raise wrong_shape("The server answered a list that cannot be read.", str(request), 200) from None
            if not isinstance(members, list):
                raise _no_list(request) from None
            items, unreadable = self._readable(members)
            return self._page(items, unreadable, content, len(members))
        items = tuple(item for item in listed.items if item is not None)
        partial = bare and len(listed.items) == self._transport.limits.page
        return Page(items, listed.next_page_id is not None, perhaps_partial=partial), listed.next_page_id

    def _readable(self, members: list[Any]) -> tuple[tuple[R, ...], int]:
        """The records of a list that can be read, and how many cannot."""
        try:
            return tuple(item for item in self._listed.model_validate({"items": members}).items if item is not None), 0
        except ValidationError:
            items: list[R | None] = []
            for member in members:
                with suppress(ValidationError):
                    items += self._listed.model_validate({"items": [member]}).items
            return tuple(item for item in items if item is not None), len(members) - len(items)

    def _page(
        self, items: tuple[R, ...], unreadable: int, content: list[Any] | dict[str, Any], total: int
    ) -> tuple[Page[R], str | None]:
        """The last or only page of an answer; `content` is the answer, whatever its list was read as."""
        if isinstance(content, list):
            return Page(items, unreadable=unreadable, perhaps_partial=total == self._transport.limits.page), None
        page_id = self._listed.model_validate({**content, "items": ()}).next_page_id
        return Page(items, page_id is not None, unreadable), page_id


def _slices(text: str, at: int) -> Iterator[tuple[list[Any], str | None]]:
    """The members of an array, of which the first begins there; with the last ones comes what follows the array.

    Raises ValueError or RecursionError for one that is no JSON.
    """
    decode = json.JSONDecoder().raw_decode
    members: list[Any] = []
    while text[at : at + 1] != "]" or members:
        member, at = decode(text, at)
        members.append(member)
        mark = _MARK.match(text, at)
        if mark is None:
            raise ValueError("neither a comma nor the end of the list")
        at = mark.end()
        if mark[1] == "]":
            yield members, text[at:]
            return
        if len(members) == SLICE:
            yield members, None
            members = []
    yield [], text[at + 1 :]


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


def _no_list(request: Request) -> ServiceError:
    return wrong_api("The server answered something that is not a list.", str(request), 200)


def _endless(kind: ErrorKind, words: str, path: str) -> ServiceError:
    return ServiceError(kind, words, "What was read until then is shown.", request=f"GET {path}")
