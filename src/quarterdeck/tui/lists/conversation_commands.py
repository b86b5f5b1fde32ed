"""Commands for conversations: the dialog, the request and the message. Dialogs open before anything is awaited."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.server import Server
from quarterdeck.config.files import write_named
from quarterdeck.fleet.bulk import CONVERSATIONS, STARTS, BulkAction, Plan, RowState, plan
from quarterdeck.fleet.conversations import ConversationRow, ConversationWord
from quarterdeck.fleet.filters import Filter, Kind
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.columns.conversations import title_of
from quarterdeck.tui.conversation.drafts import drop_draft
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.bulk import plan_lines, titles_listed
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.file_path import choose_dialog
from quarterdeck.tui.dialogs.form import FormDialog, InputField, Typed
from quarterdeck.tui.lists.creation import Creation
from quarterdeck.tui.lists.screen import ListScreen
from quarterdeck.tui.lists.unsent import Unsent

TRAJECTORY: tuple[Cell, ...] = (
    cell("All that happened in the conversation, as a zip file that the server makes."),
    cell("It contains everything the agent saw, secrets too, if it saw any.", Tone.WARN),
)
NOT_FAILED = "Its start has not failed."
FORGOTTEN = cell("What was asked for in them is then shown nowhere; nothing is changed on the server.")
NO_TRAJECTORY = "The local service does not keep what happened as a file to save."
SHORTEST = 2
"""Minimum letters of a word that a server is searched for."""


class ConversationCommands:
    """Actions of a list of conversations."""

    def __init__(self, screen: ListScreen[ConversationRow]) -> None:
        self._screen = screen
        self.unsent = Unsent(screen)
        self._unable: dict[str, tuple[Server | None, str]] = {}
        """Commands that a server turned out not to offer, with its words."""

    def why_not_offered(self, name: str) -> str | None:
        """Return why this server cannot do a command, as learned by trying it; its release tells too little."""
        session = self._screen.app.session
        if session is None:
            return None
        found, words = self._unable.get(name, (None, None))
        if name == "trajectory" and _is_local(session):
            return NO_TRAJECTORY
        return words if found is session.server.kind else None

    @contextmanager
    def _finding_out(self, name: str, session: Session) -> Iterator[None]:
        """Remember if an error says that the server does not offer a command."""
        try:
            yield
        except ServiceError as error:
            if error.kind is ErrorKind.NOT_OFFERED:
                self._unable[name] = (session.server.kind, error.words)
            raise

    # Create

    async def action_new_conversation(self) -> None:
        """Ask what to start with, create the conversation, and follow its start task in the list."""
        if self._screen.app.session is not None:
            await Creation(self._screen, self._screen.app.session, self.unsent).ask()

    async def action_retry(self) -> None:
        """Repeat the request of a failed start, as far as the server returns it."""
        if (at := self._screen.at_cursor()) is not None:
            session, row = at
            await Creation(self._screen, session, self.unsent, row.task).ask()

    # Delete

    async def action_delete(self) -> None:
        """Delete conversations after the person typed the short id of a single one, or the number of several.

        A failed start is dismissed without a question, because nothing changes on the server; several after a plan.
        """
        (rows, hidden), session = self._screen.targets(), self._screen.app.session
        if session is None:
            return
        if all(row.task is not None for row in rows):
            await self._dismiss(session, plan(rows, lambda row: None if row.state.attention else NOT_FAILED, hidden))
            return

        async def delete(row_id: str) -> None:
            try:
                with self._finding_out("delete", session):
                    await session.delete_conversation(row_id)
            finally:
                await drop_draft(self._screen.app.drafts, session, row_id)

        def verdict(row_id: str) -> RowState | None:
            return None if row_id in session.conversations.records else RowState.DONE

        bulk_action = BulkAction("Delete", delete, verdict, CONVERSATIONS)
        planned = plan(rows, lambda row: None if row.task is None else "It is not a conversation yet.", hidden)
        await self._screen.sandbox_commands.delete(
            session, bulk_action, planned, lambda: _goes_with(session, planned.rows)
        )

    async def _dismiss(self, session: Session, planned: Plan[ConversationRow]) -> None:
        """Dismiss failed starts, several after the person agreed."""

        def dismiss(agreed: bool) -> None:
            session.unread.dismiss([row.id for row in planned.rows])
            self._screen.say(f"{len(planned.rows):,} dismissed; nothing was changed on the server.", Tone.GOOD)

        if not planned.rows:
            self._screen.say("None of these starts has failed, unless the filter hides it.", Tone.WARN)
        elif planned.alone:
            dismiss(agreed=True)
        else:
            said = (FORGOTTEN, EMPTY, *plan_lines("Dismiss", planned))
            await ask(self._screen.app, ConfirmDialog(f"Dismiss {STARTS.counted(len(planned.rows))}?", said), dismiss)

    # Rename, and the trajectory

    async def action_rename(self) -> None:
        """Ask for another title and set it."""
        if (at := self._screen.at_cursor()) is None:
            return
        session, row = at

        async def send(typed: Typed) -> str:
            with self._finding_out("rename", session):
                await session.rename_conversation(row.id, typed["title"])
            named = row._replace(told=replace(row.record, title=typed["title"])) if row.record else row
            found = self._screen.listing.filter.matches(named, self._screen.app.clock())
            return f"It is called {text.name(typed['title'])}.{'' if found else ' The filter hides it; esc shows all.'}"

        field = InputField(
            "title",
            "Title",
            row.title,
            hint="what the list shows; the agent is not told",
            check=lambda value: None if value else "A title has at least one letter.",
        )
        dialog = FormDialog("Rename the conversation", (field,), send, verb="rename", blamed="title")
        await ask(self._screen.app, dialog, lambda said: self._screen.say(said, Tone.GOOD))

    def action_trajectory(self) -> None:
        """Save everything that happened in the conversation to a file."""
        if (at := self._screen.at_cursor()) is not None:
            self._screen.run_worker(self._save_trajectory(*at), exclusive=True, group="trajectory")

    async def _save_trajectory(self, session: Session, row: ConversationRow) -> None:
        """Ask for a path, have the server make the file, and write it there."""
        name, say, app = title_of(row), self._screen.say, self._screen.app
        default = Path(f"trajectory-{text.line(row.short_id)}.zip")
        chosen = await app.push_screen_wait(choose_dialog(app, f"Trajectory of {name}", TRAJECTORY, default))
        if chosen is None:
            return
        path, over = chosen
        say(f"The server packs the trajectory of {name}…", Tone.BUSY)
        with self._screen.saying_errors(), self._finding_out("trajectory", session):
            content = await session.client.conversations.trajectory(row.id)
            try:
                await asyncio.to_thread(write_named, path, content, over=over)
            except FileExistsError:
                say(f"{path} was created meanwhile and was left as it is. Nothing was written.", Tone.BAD)
            else:
                say(f"Written to {path.absolute()}: {_size(len(content))}, only you can open it.", Tone.GOOD)


def _is_local(session: Session) -> bool:
    return session.server.kind is not None and session.server.kind.local


def _goes_with(session: Session, rows: Sequence[ConversationRow]) -> list[Cell]:
    """Return what a server deletes together with these conversations."""
    ids, one = {row.id for row in rows}, len(rows) == 1
    gone = all(row.state.word == ConversationWord.SANDBOX_MISSING for row in rows)
    if _is_local(session) and not gone:
        return [cell("Its sandbox stays." if one else "The sandboxes that still exist stay.")]
    records = session.conversations.records.values()
    living = {row.sandbox_id for row in rows if row.state.word != ConversationWord.SANDBOX_MISSING} - {None}
    others = [
        each for each in records if each.sandbox_id in living and not ids & {each.id, each.parent_conversation_id}
    ]
    if gone:
        words = ["Its sandbox is gone already." if one else "Their sandboxes are gone already."]
    elif one and others:
        words = ["Others live in its sandbox, so that stays:"]
    elif one:
        words = ["Its sandbox goes too, with all files in it, unless another conversation lives there."]
    else:
        words = ["Their sandboxes go too, with all files in them, unless other conversations live there."]
        if stay := len({each.sandbox_id for each in others}):
            stays = f"{stay:,} of them {'stays' if stay == 1 else 'stay'}"
            words.append(f"{stays}, because other conversations live there:")
    said = [*(cell(each) for each in words), *titles_listed([each.title or "" for each in others])]
    parts = [each.title or "" for each in records if each.parent_conversation_id in ids and each.id not in ids]
    if parts:
        its, it = ("Its", "it") if one else ("Their", "them")
        said += [EMPTY, cell(f"{its} sub-conversations are deleted with {it}:", Tone.WARN), *titles_listed(parts)]
    return said


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MB" if count >= 2**20 else f"{max(1, count // 1024)} kB"


# Titles of conversations not read yet


def title_words(typed: Filter[ConversationRow]) -> str:
    """Return the longest plain word of a filter, to search titles for; empty if there is none."""
    words = [term.texts[0] for term in typed.terms if term.kind is Kind.WORD and not term.inverted]
    longest = max(words, key=len, default="")
    return longest if len(longest) >= SHORTEST else ""
