"""Sub-conversations under their parents: which of them are shown, and which are folded away."""

from collections.abc import Container


class Folding:
    """Families of the `rows` of a list; `parents` holds the parent of each sub-conversation that was ever listed.

    A family stands together under its oldest member, which is folded until somebody opens it. A filter is stronger: it
    shows the members it lets through, and their parent above them.
    """

    def __init__(self, rows: Container[str]) -> None:
        self.parents: dict[str, str] = {}
        self.hidden: dict[str, tuple[str, ...]] = {}
        """The folded members of each family by its head, as they were arranged last."""
        self._rows = rows
        self._opened: set[str] = set()

    def head(self, row_id: str) -> str:
        """The member a family stands under; an id that has no family, or goes round in a circle, is its own."""
        head, passed = row_id, {row_id}
        while (parent := self.parents.get(head)) is not None and parent in self._rows:
            if parent in passed:
                return row_id
            passed.add(parent)
            head = parent
        return head

    def arranged(self, ids: list[str], *, filtered: bool, by_attention: bool) -> list[str]:
        """Put families together and fold them.

        By attention a family stands where the member stands that needs a look first, else where its head stands.
        """
        if not self.parents:
            return ids
        families = self._families()
        through, placed, out = {row_id: at for at, row_id in enumerate(ids)}, set[str](), list[str]()
        self.hidden = {}
        for row_id in ids:
            head = self.head(row_id)
            if head in placed or (head != row_id and head in through and not by_attention):
                continue
            placed.add(head)
            out.append(head)
            if head in families:
                members = families[head]
                shown = members & through.keys() if filtered else members if head in self._opened else set[str]()
                out += sorted(shown, key=through.__getitem__)
                self.hidden[head] = tuple(members - shown)
        return out

    def _families(self) -> dict[str, set[str]]:
        families: dict[str, set[str]] = {}
        for row_id in self.parents:
            if row_id in self._rows and (head := self.head(row_id)) != row_id:
                families.setdefault(head, set()).add(row_id)
        return families

    def open(self, row_id: str) -> bool:
        """Show the family of a row; False where there is nothing folded."""
        head = self.head(row_id)
        if not self.hidden.get(head):
            return False
        self._opened.add(head)
        return True

    def close(self, row_id: str) -> str | None:
        """Fold the family of a row, and give its head; None where it is not open."""
        head = self.head(row_id)
        if head not in self._opened:
            return None
        self._opened.discard(head)
        return head
