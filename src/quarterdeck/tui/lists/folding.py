"""Sub-conversations under their parents: which of them are shown, and which are folded."""

from collections.abc import Container


class Folding:
    """Families of the `rows` of a list; `parents` has the parent of each sub-conversation that was ever listed.

    A family is grouped under its oldest ancestor, its head, and folded until a person unfolds it. A filter has
    priority: it shows the members that match, and their head above them.
    """

    def __init__(self, rows: Container[str]) -> None:
        self.parents: dict[str, str] = {}
        self.hidden: dict[str, tuple[str, ...]] = {}
        """The folded members of each family by its head, as last arranged."""
        self._rows = rows
        self._opened: set[str] = set()

    def head(self, row_id: str) -> str:
        """Return the head of a row's family; an id without a family, or in a cycle, is its own head."""
        head, passed = row_id, {row_id}
        while (parent := self.parents.get(head)) is not None and parent in self._rows:
            if parent in passed:
                return row_id
            passed.add(parent)
            head = parent
        return head

    def arranged(self, ids: list[str], *, filtered: bool, by_attention: bool) -> list[str]:
        """Group families and fold them.

        With `by_attention`, a family is placed where its first member is, otherwise where its head is.
        """
        if not self.parents:
            return ids
        families, at = self._families(), {row_id: number for number, row_id in enumerate(ids)}
        first: dict[str, int] = {}
        for row_id in ids:
            first.setdefault(self.head(row_id), at[row_id])
        place = first if by_attention else first | at
        self.hidden, out = {}, list[str]()
        for head in sorted(first, key=place.__getitem__):
            members = families.get(head, set())
            shown = members & at.keys() if filtered or head in self._opened else set[str]()
            out += [head, *sorted(shown, key=at.__getitem__)]
            self.hidden[head] = tuple(members - shown)
        return out

    def _families(self) -> dict[str, set[str]]:
        families: dict[str, set[str]] = {}
        for row_id in self.parents:
            if row_id in self._rows and (head := self.head(row_id)) != row_id:
                families.setdefault(head, set()).add(row_id)
        return families

    def open(self, row_id: str) -> bool:
        """Unfold the family of a row; returns False if nothing is folded."""
        head = self.head(row_id)
        if not self.hidden.get(head):
            return False
        self._opened.add(head)
        return True

    def is_open(self, row_id: str) -> bool:
        """Whether the family of a row is unfolded."""
        return self.head(row_id) in self._opened

    def close(self, row_id: str) -> str:
        """Fold the family of a row and return its head."""
        head = self.head(row_id)
        self._opened.discard(head)
        return head
