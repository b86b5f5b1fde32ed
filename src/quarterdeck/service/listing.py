"""Reading a list from bytes: the fast way for a good one, record by record for a bad one."""

# Annotations stay text: pydantic would build a model for every `Listing[R]` among them.
from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from quarterdeck.service.bodies import read_json, wrong_api
from quarterdeck.service.models.page import Page


class Record(Protocol):
    """A record with an id of its own."""

    @property
    def id(self) -> str:
        """What tells it from the others."""
        ...


R = TypeVar("R", bound=Record)
T = TypeVar("T")


def _page_id(value: object) -> str | None:
    """A page id as text, just as it was given; an empty one means the end."""
    return str(value) if isinstance(value, str | int) and value != "" else None


class Listing(BaseModel, Generic[T]):
    """A list as servers send it, nulls for records that are not there."""

    model_config = ConfigDict(frozen=True)

    items: tuple[T | None, ...]
    next_page_id: Annotated[str | None, BeforeValidator(_page_id)] = None


class ListReader(Generic[R]):
    """Reads lists of one kind of record."""

    def __init__(self, listing: type[Listing[R]]) -> None:
        self._listing = listing

    def read(self, body: bytes, request: str = "") -> Page[R]:
        """Read a page or a bare array; nulls are left out, records that cannot be read are counted.

        Raises ServiceError: WRONG_API for anything that is not a list, BROKEN for half of one.
        """
        try:
            # A page is read straight from bytes, so a bare array is put into the shape of one first.
            listing = self._listing.model_validate_json(b'{"items":%b}' % body if body[:1] == b"[" else body)
        except ValidationError:
            return self._read_one_by_one(read_json(body, request), request)
        return Page(tuple(item for item in listing.items if item is not None), listing.next_page_id)

    def _read_one_by_one(self, content: Any, request: str) -> Page[R]:
        members = {"items": content} if isinstance(content, list) else content
        items = members.get("items") if isinstance(members, dict) else None
        if not isinstance(members, dict) or not ("items" in members and isinstance(items, list | None)):
            raise wrong_api("The server answered something that is not a list.", request, 200)
        present = [item for item in items or () if item is not None]
        records = [record for item in present if (record := self._record_of(item)) is not None]
        return Page(tuple(records), _page_id(members.get("next_page_id")), len(present) - len(records))

    def _record_of(self, item: object) -> R | None:
        try:
            return self._listing.model_validate({"items": (item,)}).items[0]
        except ValidationError:
            return None


def without(page: Page[R], known: Collection[str]) -> Page[R]:
    """Leave out records whose id is known already, from earlier pages or earlier in this one.

    Offset pages overlap whenever something new arrives. A page without such records is returned as it is.
    """
    own: dict[str, R] = {}
    for item in page.items:
        if item.id not in known:
            own.setdefault(item.id, item)
    return page if len(own) == len(page.items) else Page(tuple(own.values()), page.next_page_id, page.unreadable)
