"""What a new conversation starts with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Label, Select, Static, TextArea

from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown

NEW_SANDBOX = ""


def problem_with(new: NewConversation) -> str | None:
    """What keeps it from being created, in one sentence, or None."""
    repository = new.selected_repository or ""
    if any(mark.isspace() for mark in repository):
        return "A repository has no blanks in it: write it as owner/name."
    if new.selected_branch and not repository:
        return "A branch needs its repository."
    if any(mark.isspace() for mark in new.selected_branch or ""):
        return "A branch has no blanks in its name."
    return None


def _field(label: str, value: str | None, placeholder: str, name: str) -> Vertical:
    return Vertical(Label(label, markup=False), Input(text.line(value or ""), placeholder=placeholder, id=name))


class NewConversationDialog(Dialog[NewConversation]):
    """Ask for message, title, repository, branch and sandbox; everything may be left empty.

    `asked` is what it begins with; what of it has no field here stays as it is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "accept", "Create", show=False, priority=True)]
    CSS_PATH = ["dialog.tcss", "new_conversation.tcss"]
    HINTS = (("^s", "create"), ("tab", "next field"), ("esc", "cancel"))

    def __init__(
        self, sandboxes: Sequence[tuple[Shown, str]], said: Iterable[Cell] = (), asked: NewConversation | None = None
    ) -> None:
        super().__init__(Shown("New conversation" if asked is None else "Try it again"))
        self._asked = asked or NewConversation()
        self._sandboxes = sandboxes
        self._said = tuple(said)

    def body(self) -> Iterable[Widget]:
        """The fields, and what will apply."""
        yield Label("First message", markup=False)
        asked = self._asked
        yield TextArea(text.block(asked.message or ""), id="message", soft_wrap=True, tab_behavior="focus")
        yield Label("Title (empty: the server names it)", markup=False)
        yield Input(text.line(asked.title or ""), id="title-field")
        yield Horizontal(
            _field("Repository, owner/name", asked.selected_repository, "none", "repository"),
            _field("Branch", asked.selected_branch, "the repository's own", "branch"),
        )
        yield Label("Sandbox", markup=False)
        options = [(Shown("a new one"), NEW_SANDBOX), *self._sandboxes]
        there = asked.sandbox_id in [sandbox_id for _, sandbox_id in self._sandboxes]
        chosen = asked.sandbox_id if there else NEW_SANDBOX
        yield Select(options, value=chosen, allow_blank=False, id="sandbox", compact=True)
        yield Static(lines(self._said), id="said")

    def on_input_submitted(self) -> None:
        """Enter in a one-line field creates."""
        self.action_accept()

    def action_accept(self) -> None:
        """Answer with what was typed, if it can be sent."""
        typed = {
            "message": self.query_one("#message", TextArea).text.strip() or None,
            "title": self._typed("#title-field"),
            "selected_repository": self._typed("#repository"),
            "selected_branch": self._typed("#branch"),
            "sandbox_id": str(self.query_one("#sandbox", Select).value) or None,
        }
        new = self._asked.model_copy(update=typed)
        problem = problem_with(new)
        if problem is None:
            self.dismiss(new)
        else:
            self.complain(Shown(problem))

    def _typed(self, field: str) -> str | None:
        return self.query_one(field, Input).value.strip() or None
