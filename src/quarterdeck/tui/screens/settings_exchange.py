"""MCP servers and the world around the form: checked from here, pasted as JSON, copied and written without secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import on, work

from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.mcp import Entry
from quarterdeck.settings.mcp_json import pasted, without_secrets
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.dialogs.mcp_paste import PasteServersDialog
from quarterdeck.tui.screens.settings_lists import SettingsLists
from quarterdeck.tui.settings.server_checks import Checked, check, check_all, summary, under_way
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.lists import Tried
from quarterdeck.tui.written_text import save_text

PAINTED_EVERY = 0.2
"""Seconds between two paintings while many checks are under way."""


class SettingsExchange(SettingsLists):
    """What goes in and out of the list of MCP servers besides a save."""

    _to_say: tuple[Shown, Tone] | None = None
    """What is said once the form has told of the edit that was just done."""

    async def edit_and_say(self, change: Callable[[Draft], Draft], sentence: str, tone: Tone = Tone.PLAIN) -> None:
        """Do something to the draft and say so, though an edit clears the message line."""
        before, self._to_say = self.form.draft, (text.line(sentence), tone)
        await self.form.change(change)
        if self.form.draft is before:
            self._to_say = None

    @on(SettingsForm.Edited)
    def _say_what_was_done(self) -> None:
        if self._to_say is not None:
            self.call_next(self.say, *self._to_say)
            self._to_say = None

    # Checks

    @work(group="settings-check")
    async def action_check(self) -> None:
        """Check the MCP server under the cursor; other keys work meanwhile."""
        entry, client = self.form.entry, self.app.client
        if entry is None or client is None:
            return
        self._note({entry.row: under_way(entry)})
        checked = await check(client, entry)
        self._note({entry.row: checked.tried})
        self.say(text.line(checked.sentence), Tone.PLAIN if checked.good else Tone.WARN)

    @work(exclusive=True, group="settings-check-all")
    async def action_check_all(self) -> None:
        """Check all MCP servers."""
        entries, client = self.form.draft.servers.entries, self.app.client
        if client is None:
            return
        found: dict[int, Checked] = {}
        self._note({entry.row: under_way(entry) for entry in entries})
        painting = self.set_interval(PAINTED_EVERY, lambda: self._note(_tried(found)))
        try:
            await check_all(client, entries, found.__setitem__)
        finally:
            painting.stop()
        self._note(_tried(found))
        self.say(text.line(summary(found.values())))

    def _note(self, checks: Mapping[int, Tried]) -> None:
        lists = self.form.view.lists
        if any(lists.checks.get(row) is not tried for row, tried in checks.items()):
            self.form.show_lists(replace(lists, checks={**lists.checks, **checks}))

    # JSON

    @work(exclusive=True, group="dialog")
    async def action_import_servers(self) -> None:
        """Take in MCP servers from pasted JSON, in one step of the draft."""
        read = partial(pasted, nested=self.form.view.hides_secrets)
        taken = await self.app.push_screen_wait(PasteServersDialog(self.form.draft.servers, read))
        if taken is not None:
            said = f"{taken.words}: ctrl+s reviews and saves, ctrl+z takes it back."
            await self.edit_and_say(lambda draft: draft.set(MCP, taken.servers), said, Tone.GOOD)

    def copy_entry(self) -> None:
        """Copy the MCP server under the cursor as JSON, without its secrets."""
        if self.form.entry is not None:
            self._copy([self.form.entry])

    def action_copy_servers(self) -> None:
        """Copy all MCP servers as JSON, without their secrets."""
        self._copy(self.form.draft.servers.entries)

    def _copy(self, entries: Iterable[Entry]) -> None:
        entries = tuple(entries)
        self.app.copy_to_clipboard(without_secrets(entry.server for entry in entries))
        name = words.server_title(entries[0].server) if len(entries) == 1 else words.counted(len(entries), "server")
        self.say(text.line(f"Copied {name} as JSON without secrets, if your terminal takes copies; Y writes a file."))

    @work(exclusive=True, group="dialog")
    async def action_servers_file(self) -> None:
        """Write the MCP server under the cursor, elsewhere all of them, to a file as JSON without secrets."""
        entries = (self.form.entry,) if self.form.entry is not None else self.form.draft.servers.entries
        written = text.escaped(without_secrets(entry.server for entry in entries))
        said = (cell(text.line(f"{words.counted(len(entries), 'MCP server')} as JSON. No secret is in it.")),)
        path = await save_text(self.app, "MCP servers to a file", said, Path("mcp-servers.json"), lambda _: written)
        if path is not None:
            self.say(text.line(f"Written to {path}, without secrets."), Tone.GOOD)


def _tried(found: Mapping[int, Checked]) -> dict[int, Tried]:
    return {row: checked.tried for row, checked in found.items()}
