"""What to copy of a row, and where to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.copying import Copyable
from quarterdeck.tui.dialogs.pick import Item, PickDialog, PickKey
from quarterdeck.tui.text import Shown

NAME_WIDE = 12
PREVIEW = 50
"""Characters of a value that are shown before it is copied."""
NOTE = cell(Shown("Copies go through the terminal (OSC 52). Where yours takes none, f saves to a file."), Tone.MUTED)


@dataclass(frozen=True)
class CopyWish:
    """What to copy, and whether to a file."""

    what: Copyable
    to_file: bool = False


def pick_copy(title: Shown, offered: Sequence[Copyable]) -> PickDialog[CopyWish]:
    """Pick what to copy; nothing that is offered holds a secret."""
    to_file = PickKey[CopyWish]("f", "save to a file", lambda wish: replace(wish, to_file=True))
    items = [Item(_line(each), CopyWish(each)) for each in offered]
    return PickDialog(Shown(f"Copy of {title}"), items, take="copy", keys=(to_file,), said=(NOTE,))


def _line(each: Copyable) -> Cell:
    whole = text.line(each.value[: 2 * PREVIEW])
    begins = whole if len(whole) <= PREVIEW else Shown(f"{whole[: PREVIEW - 1]}…")
    return (Shown(f"{each.name:<{NAME_WIDE}}"), Tone.KEY), (begins, Tone.PLAIN)
