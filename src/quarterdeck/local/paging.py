"""Pages by offset, as real servers have them: `page_id` is a decimal offset, `limit` 1 to 100 (contract section e)."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

PageId = Annotated[str | None, Query(pattern=r"^\d{1,12}$", description="As given by the page before")]
Limit = Annotated[int, Query(ge=1, le=100)]


@dataclass(frozen=True)
class Window:
    """Which part of a list is asked for; one row more than `limit` is read to know whether the list goes on."""

    offset: int
    limit: int

    @classmethod
    def of(cls, page_id: str | None, limit: int) -> "Window":
        """The window that a request names."""
        return cls(int(page_id or 0), limit)

    @property
    def sql(self) -> str:
        """The end of a query that reads it."""
        return f" LIMIT {self.limit + 1} OFFSET {self.offset}"

    def next_page_id(self, rows_read: int) -> str | None:
        """The id of the following page, None at the end."""
        return str(self.offset + self.limit) if rows_read > self.limit else None
