"""All that can be done with one row of the settings, each with its key."""

from collections.abc import Sequence

from quarterdeck.tui import text
from quarterdeck.tui.commands import Command
from quarterdeck.tui.dialogs.choose import Choice, ChooseDialog

Offer = tuple[Command, str, str | None]
"""A command, the word for it on this row, and why it can't be done now."""


class RowMenuDialog(ChooseDialog[str]):
    """Ask for a command; dismisses with its name."""

    HINTS = (("enter", "do it"), ("esc", "close"))

    def __init__(self, title: str, offers: Sequence[Offer]) -> None:
        super().__init__(
            text.line(title),
            (),
            [
                Choice(
                    command.name,
                    command.keys.split(",", maxsplit=1)[0],
                    text.line(label),
                    text.line(reason or command.help),
                    works=reason is None,
                )
                for command, label, reason in offers
            ],
        )
