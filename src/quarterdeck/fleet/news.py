"""What a session reports to the screens: which list changed, and which ids in it."""

from enum import StrEnum
from typing import NamedTuple


class About(StrEnum):
    """What news is about."""

    SERVER = "server"
    SANDBOXES = "sandboxes"
    CONVERSATIONS = "conversations"


class News(NamedTuple):
    """A change; `ids` are the rows that may look different. Start tasks are rows of the conversations."""

    about: About
    ids: frozenset[str] = frozenset()
    all_rows: bool = False
    """Every row may look different, not only those in `ids`."""
    another_server: bool = False
    """Another server now answers at the same address."""
    wanted: str | None = None
    """The id that the cursor should move to."""
    words: str = ""
    """A sentence for the person at a list, raw: it may contain a server's text."""
    everywhere: bool = False
    """Whether `words` are also shown over a dialog, not only on the screen below it."""
    call: bool = False
    """Whether a person asked to be notified of this."""
