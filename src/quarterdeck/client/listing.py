"""Reading a list from bytes, record by record: one whose text is what it was is not read again."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from quarterdeck.client.bodies import read_json, wrong_api
from quarterdeck.client.models.page import Page
from quarterdeck.client.pieces import decode, visit_list


class Record(Protocol):
    """A record with an id of its own."""

    @property
    def id(self) -> str:
        """What tells it from the others."""
        ...


R = TypeVar("R", bound=Record)
Validate = Callable[[object], R]
"""Makes a record of what JSON holds; raises ValueError."""
EMPTY: Page[Any] = Page(())


class Reading(NamedTuple, Generic[R]):
    """A page, and the texts its records were read from: the n-th record had that length and that hash."""

    page: Page[R] = EMPTY
    records: tuple[R | None, ...] = ()
    """None for one that could not be read."""
    lengths: "array[int]" = array("I")
    hashes: "array[int]" = array("q")


class ListReader(Generic[R]):
    """Reads lists of one kind of record."""

    def __init__(self, validate: Validate[R]) -> None:
        self._validate = validate

    def read(self, body: bytes, request: str = "", before: Reading[R] | None = None) -> Reading[R]:
        """Read a page or a bare array; nulls are left out, records that cannot be read are counted.

        `before` is what the same question was answered with last time: its records are taken where the text of one is
        the same. Raises ServiceError: WRONG_API for anything that is not a list, BROKEN for half of one.
        """
        texts = _Texts(self._record_of, before or Reading())
        try:
            others = visit_list(body.decode(), texts.visit)
        except (ValueError, IndexError, RecursionError):
            return self._read_at_once(read_json(body, request), request)
        return texts.reading(_page_id(others.get("next_page_id")))

    def _read_at_once(self, content: Any, request: str) -> Reading[R]:
        members = {"items": content} if isinstance(content, list) else content
        items = members.get("items") if isinstance(members, dict) else None
        if not isinstance(members, dict) or not ("items" in members and isinstance(items, list | None)):
            raise wrong_api("The server answered something that is not a list.", request, 200)
        records = [self._record_of(item) for item in items or () if item is not None]
        return _reading(records, _page_id(members.get("next_page_id")))

    def _record_of(self, item: object) -> R | None:
        try:
            return self._validate(item)
        except ValueError:
            return None


class _Texts(Generic[R]):
    """Takes the texts of a list as they come and puts them beside those of the last reading, in step with it."""

    def __init__(self, record_of: Callable[[object], R | None], before: Reading[R]) -> None:
        self._record_of = record_of
        self._before = before
        self._next = 0
        """The record of the last reading that is expected now."""
        self._places: dict[str, int] | None = None
        self._records: list[R | None] = []
        self._lengths = array("I")
        self._hashes = array("q")

    def visit(self, text: str, at: int) -> int:
        """Take the member that begins there, and those that follow as they are expected; gives where the last ends."""
        end = self._take_same(text, at)
        if end > at:
            return end
        value, end = decode(text, at)
        if value is not None:
            record = self._record_of(value)
            self._next = self._after(record)
            self._records.append(record)
            self._lengths.append(end - at)
            self._hashes.append(hash(text[at:end]))
        return end

    def _take_same(self, text: str, at: int) -> int:
        """Take members for as long as each is the one of the last reading and a mere comma stands between them."""
        lengths, hashes = self._before.lengths, self._before.hashes
        first = number = self._next
        end = at
        while number < len(lengths) and hash(text[at : at + lengths[number]]) == hashes[number]:
            end = at + lengths[number]
            at, number = end + 1, number + 1
            if text[end] != ",":
                break
        if number > first:
            self._next = number
            self._records += self._before.records[first:number]
            self._lengths += lengths[first:number]
            self._hashes += hashes[first:number]
        return end

    def reading(self, next_page_id: str | None) -> Reading[R]:
        """What was taken."""
        return _reading(self._records, next_page_id, self._lengths, self._hashes)

    def _after(self, record: R | None) -> int:
        """Where to go on in the last reading after a record whose text is another one: it changed, or it is new."""
        if self._places is None:
            self._places = {known.id: at for at, known in enumerate(self._before.records) if known is not None}
        place = self._next if record is None else self._places.get(record.id, self._next - 1)
        return place + 1


def _reading(records: Sequence[R | None], next_page_id: str | None, *marks: "array[int]") -> Reading[R]:
    read = tuple([record for record in records if record is not None])
    missing = len(records) - len(read)
    return Reading(Page(read, next_page_id, missing), tuple(records) if missing else read, *marks)


def _page_id(value: object) -> str | None:
    """A page id as text, just as it was given; an empty one means the end."""
    return str(value) if isinstance(value, str | int) and value != "" else None
