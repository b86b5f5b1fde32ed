"""Another title for a conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from quarterdeck.settings.fields import Problem
from quarterdeck.tui import text
from quarterdeck.tui.dialogs.sending import SendingDialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput
from quarterdeck.tui.widgets.settings.member import Member


class ConversationTitleDialog(SendingDialog):
    """Ask for a title and give it; `rename` raises ServiceError."""

    BLAMED = "title"

    def __init__(self, title: Shown, rename: Callable[[str], Awaitable[None]]) -> None:
        super().__init__(Shown("Rename the conversation"))
        self._called = title
        self._rename = rename

    def members(self) -> Iterable[Member]:
        """The title."""
        yield Member("title", "Title", LineInput(self._called), "what the list shows; the agent is not told")

    def problems(self) -> Iterable[Problem]:
        """A title that says nothing."""
        if not self.typed("title"):
            yield Problem("", "A title has at least one letter.", member="title")

    async def send(self) -> Shown:
        """Rename it, unless it is called so already."""
        title = self.typed("title")
        if title != self._called:
            await self._rename(title)
        return text.line(f"It is called {title}.")
