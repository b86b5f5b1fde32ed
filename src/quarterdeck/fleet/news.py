"""What a session tells whoever shows it: which list it is about, and which ids changed."""

from enum import StrEnum
from typing import NamedTuple


class About(StrEnum):
    """What news is about."""

    SERVER = "server"
    SANDBOXES = "sandboxes"
    CONVERSATIONS = "conversations"


class News(NamedTuple):
    """Something changed; `ids` are the rows of which there is something new: start tasks are rows of conversations."""

    about: About
    ids: frozenset[str] = frozenset()
    all_rows: bool = False
    """Every row may show something else than before, not only these."""
    another_server: bool = False
    """Another server answers at the same address than before."""
    wanted: str | None = None
    """The id that the cursor should go to."""
    words: str = ""
    """A sentence for whoever looks at a list, raw: it may hold a server's text."""
    everywhere: bool = False
    """Whether `words` are said in a dialog too, not only on the screen below it."""
    call: bool = False
    """Whether a person asked to be called when this comes."""
