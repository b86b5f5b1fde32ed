"""What a new conversation starts with, and another title for one."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.base import Result
from quarterdeck.tui.dialogs.form import FormDialog, Line, Lines, OneOf, RefusedError, Typed
from quarterdeck.tui.text import Shown

NEW_SANDBOX = ""


def new_conversation(
    sandboxes: Sequence[tuple[Shown, str]],
    send: Callable[[NewConversation], Awaitable[Result]],
    said: Iterable[Cell] = (),
    asked: NewConversation | None = None,
) -> FormDialog[Result]:
    """Ask for message, title, repository, branch and sandbox, and create it; everything may be left empty.

    `asked` is what it begins with; what of it has no field here stays as it is. `send` raises ServiceError.
    """
    begun = asked or NewConversation()
    there = begun.sandbox_id in [sandbox_id for _, sandbox_id in sandboxes]

    async def create(typed: Typed) -> Result:
        if typed["branch"] and not typed["repository"]:
            raise RefusedError("A branch needs its repository.", "repository")
        wanted = {
            "message": typed["message"] or None,
            "title": typed["title"] or None,
            "selected_repository": typed["repository"] or None,
            "selected_branch": typed["branch"] or None,
            "sandbox_id": typed["sandbox"] or None,
        }
        return await send(begun.model_copy(update=wanted))

    fields = (
        Lines("message", "First message", begun.message or ""),
        Line("title", "Title", begun.title or "", placeholder="empty: the server names it"),
        Line(
            "repository",
            "Repository",
            begun.selected_repository or "",
            placeholder="none, or owner/name",
            check=lambda value: _no_blanks(value, "A repository has no blanks in it: write it as owner/name."),
        ),
        Line(
            "branch",
            "Branch",
            begun.selected_branch or "",
            placeholder="the repository's own",
            check=lambda value: _no_blanks(value, "A branch has no blanks in its name."),
        ),
        OneOf(
            "sandbox",
            "Sandbox",
            begun.sandbox_id if begun.sandbox_id is not None and there else NEW_SANDBOX,
            values=[(Shown("a new one"), NEW_SANDBOX), *sandboxes],
        ),
    )
    title = Shown("New conversation" if asked is None else "Try it again")
    return FormDialog(title, fields, create, said=said, verb="create", sending="Creating the conversation…")


def rename_conversation(title: Shown, rename: Callable[[str], Awaitable[None]]) -> FormDialog[Shown]:
    """Ask for a title and give it; the answer says what was done. `rename` raises ServiceError."""

    async def send(typed: Typed) -> Shown:
        if typed["title"] != title:
            await rename(typed["title"])
        return text.line(f"It is called {typed['title']}.")

    field = Line(
        "title",
        "Title",
        title,
        hint="what the list shows; the agent is not told",
        check=lambda value: None if value else "A title has at least one letter.",
    )
    return FormDialog(Shown("Rename the conversation"), (field,), send, verb="rename", blamed="title")


def _no_blanks(value: str, words: str) -> str | None:
    return words if any(letter.isspace() for letter in value) else None
