"""One page of a list."""

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Page(NamedTuple, Generic[T]):
    """Records in the server's order; `unreadable` counts those that could not be read.

    Equal answers to the same question give the same object, so `is` tells that nothing changed.
    """

    items: tuple[T, ...]
    next_page_id: str | None = None
    unreadable: int = 0
