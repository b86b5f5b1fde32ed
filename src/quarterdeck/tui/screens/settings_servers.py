"""MCP servers in the settings: added, edited, parked, converted, folded and deleted as part of the draft."""

from __future__ import annotations

from functools import partial

from textual import on, work

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import mcp_checks, words
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Problem
from quarterdeck.settings.mcp import Entry, converted, copy_of, duplicates, empty_server
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.commands import Command, Place
from quarterdeck.tui.dialogs.mcp_park import park_dialog
from quarterdeck.tui.dialogs.mcp_server import McpServerDialog
from quarterdeck.tui.dialogs.pick_transport import pick_transport
from quarterdeck.tui.screens.settings_exchange import SettingsExchange
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.server_keys import why_not_server

PARKED = "Parked at the next save: kept on this machine, gone from the service. ctrl+z takes it back."

PARKED_TITLE = Shown("Parked MCP server: this machine keeps it, what you type too")


class SettingsServers(SettingsExchange):
    """What can be done with MCP servers."""

    def why_not(self, command: Command) -> str | None:
        """What a command for MCP servers needs of the list and of the row under the cursor."""
        reason = super().why_not(command)
        if reason is None and command.place is Place.SETTINGS and self.is_mounted and self.loaded:
            reason = why_not_server(command.name, self.form)
        return reason

    @on(SettingsForm.ServerChosen)
    def _server_chosen(self, event: SettingsForm.ServerChosen) -> None:
        if event.row is None:
            self.add_server()
        else:
            self._edit_server(event.row)

    @work(exclusive=True, group="dialog")
    async def add_server(self) -> None:
        """Add an MCP server: first its type, then its members."""
        transport = await self.app.push_screen_wait(pick_transport())
        if transport is not None:
            await self._fill_in(Shown(f"New {transport} server"), empty_server(transport))

    @work(exclusive=True, group="dialog")
    async def action_copy_server(self) -> None:
        """Copy the MCP server under the cursor as a new one."""
        entry = self.form.entry
        if entry is not None:
            copied = copy_of(entry.server, self.form.draft.servers)
            await self._fill_in(Shown("Copy of an MCP server"), copied, entry.row)

    async def delete_server(self) -> None:
        """Delete the MCP server under the cursor, at the next save."""
        entry = self.form.entry
        if entry is not None:
            change = partial(Draft.remove_server, row=entry.row)
            await self.edit_and_say(change, "Deleted at the next save; ctrl+z takes it back.")

    @work(exclusive=True, group="dialog")
    async def action_disable(self) -> None:
        """Keep the MCP server under the cursor on this machine only, or have the service store it again."""
        entry = self.form.entry
        if entry is None:
            return
        if entry.disabled:
            await self.edit_and_say(partial(Draft.enable_server, row=entry.row), *self._unparked(entry.row))
            return
        with_secrets = await self._may_park(entry)
        if with_secrets is not None:
            change = partial(Draft.disable_server, row=entry.row, with_secrets=with_secrets)
            await self.edit_and_say(change, PARKED)

    async def _may_park(self, entry: Entry) -> bool | None:
        """Whether its secrets go along; None for not to park it."""
        dialog = park_dialog(entry, hidden=self.form.view.hides_secrets)
        return True if dialog is None else await self.app.push_screen_wait(dialog)

    def _unparked(self, row: int) -> tuple[str, Tone]:
        entry = self.form.draft.servers.enable(row).entry(row)
        missing = words.to_type(entry.server) if entry is not None else ""
        return f"Stored again at the next save. {missing}".strip(), Tone.WARN if missing else Tone.PLAIN

    async def action_convert(self) -> None:
        """Make the MCP server under the cursor the other of SSE and HTTP."""
        entry = self.form.entry
        other = converted(entry.server) if entry is not None else None
        if entry is not None and other is not None:
            said = f"It is {words.server_kind(other)} from the next save on; o makes it what it was."
            await self.edit_and_say(partial(Draft.edit_server, row=entry.row, server=other), said)

    async def action_remove_duplicates(self) -> None:
        """Delete all but one of each group of equal MCP servers, at the next save."""
        folded = sum(len(group) - 1 for group in duplicates(self.form.draft.servers))
        copies = "1 copy goes" if folded == 1 else f"{folded} copies go"
        said = f"{copies} at the next save. What the server's own config.toml has comes back."
        await self.edit_and_say(Draft.remove_duplicates, said)

    @work(exclusive=True, group="dialog")
    async def _edit_server(self, row: int) -> None:
        entry = self.form.draft.servers.entry(row)
        if entry is None:
            return
        dialog = McpServerDialog(
            PARKED_TITLE if entry.disabled else Shown("MCP server"),
            entry.server,
            lambda server: self._problems(server, row),
            hidden=self.form.view.hides_secrets,
            stored=entry.was is not None,
        )
        server = await self.app.push_screen_wait(dialog)
        if server is not None:
            await self.form.put_server(row, server)

    async def _fill_in(self, title: Shown, server: McpServer, after: int | None = None) -> None:
        dialog = McpServerDialog(title, server, self._problems, hidden=self.form.view.hides_secrets)
        filled = await self.app.push_screen_wait(dialog)
        if filled is not None:
            await self.form.put_server(None, filled, after=after)

    def _problems(self, server: McpServer, row: int | None = None) -> list[Problem]:
        servers = self.form.draft.servers
        changed = servers.add(server) if row is None else servers.edit(row, server)
        number = servers.next_row if row is None else row
        return [problem for problem in mcp_checks.problems(changed) if problem.row == number]
