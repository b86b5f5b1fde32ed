"""What a table tells its owner."""

from textual.message import Message
from textual.widget import Widget


class TableMessage(Message):
    """A message of a table, which is its `control`."""

    def __init__(self, table: Widget) -> None:
        super().__init__()
        self.table = table

    @property
    def control(self) -> Widget:
        """The table, for `@on(..., "#id")`."""
        return self.table


class Highlighted(TableMessage, namespace="live_table"):
    """The cursor is on the row of another id; None where there are no rows."""

    def __init__(self, table: Widget, row_id: str | None) -> None:
        super().__init__(table)
        self.id = row_id


class Chosen(TableMessage, namespace="live_table"):
    """Enter, or a second click on a row."""

    def __init__(self, table: Widget, row_id: str) -> None:
        super().__init__(table)
        self.id = row_id


class Marked(TableMessage, namespace="live_table"):
    """The marks changed."""

    def __init__(self, table: Widget, ids: frozenset[str]) -> None:
        super().__init__(table)
        self.ids = ids


class Seen(TableMessage, namespace="live_table"):
    """Other rows are on the screen; their ids from the top."""

    def __init__(self, table: Widget, ids: tuple[str, ...]) -> None:
        super().__init__(table)
        self.ids = ids


class SortAsked(TableMessage, namespace="live_table"):
    """The title of a column that can be sorted by was clicked."""

    def __init__(self, table: Widget, key: str) -> None:
        super().__init__(table)
        self.key = key
