"""Reading a whole list page by page, each record once."""

from collections.abc import Sequence, Set
from typing import Generic, NamedTuple

from quarterdeck.client.listing import R
from quarterdeck.client.models.page import Page


class Taken(NamedTuple, Generic[R]):
    """A page as it was read, and as it was given: without the records of the pages before it."""

    read: Page[R]
    given: Page[R]


class Pass(Generic[R]):
    """One reading of a list; offset pages overlap whenever something new arrives.

    For as long as the pages are the very ones of the pass before, what was given of each is given again, and nobody
    looks into them.
    """

    def __init__(self, before: Sequence[Taken[R]] = ()) -> None:
        self.pages: list[Taken[R]] = []
        """The pages so far."""
        self._before = before
        self._alike = True
        """Whether all pages so far are those of the pass before."""
        self._known: dict[str, None] = {}
        """The ids of the earlier pages; a dict of ten thousand takes two fifths of the room of a set."""
        self._noted = 0
        """Of how many pages the ids are known."""

    def add(self, page: Page[R]) -> Page[R]:
        """Take the next page and give it without the records of the earlier ones; as it is where it has none."""
        at = len(self.pages)
        self._alike = self._alike and at < len(self._before) and page is self._before[at].read
        if self._alike:
            given = self._before[at].given
        else:
            self._note()
            given = _without(page, self._known.keys())
        self.pages.append(Taken(page, given))
        return given

    def _note(self) -> None:
        for page in self.pages[self._noted :]:
            self._known.update(dict.fromkeys(item.id for item in page.given.items))
        self._noted = len(self.pages)


def _without(page: Page[R], known: Set[str]) -> Page[R]:
    """Leave out records whose id is known already, from earlier pages or earlier in this one.

    Offset pages overlap whenever something new arrives. A page without such records is returned as it is.
    """
    ids = [item.id for item in page.items]
    if known.isdisjoint(ids) and len(set(ids)) == len(ids):
        return page
    own: dict[str, R] = {}
    for item in page.items:
        if item.id not in known:
            own.setdefault(item.id, item)
    return Page(tuple(own.values()), page.next_page_id, page.unreadable)
