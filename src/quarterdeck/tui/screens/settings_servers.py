"""MCP servers in the settings: added, edited, copied and deleted as part of the draft."""

from __future__ import annotations

from textual import on, work

from quarterdeck.draft import mcp_checks
from quarterdeck.draft.mcp import copy_of, empty_server
from quarterdeck.draft.problem import Problem
from quarterdeck.service.models.mcp import McpServer
from quarterdeck.tui.dialogs.mcp_server import McpServerDialog
from quarterdeck.tui.dialogs.pick_transport import PickTransportDialog
from quarterdeck.tui.screens.settings_lists import SettingsLists
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.form import SettingsForm


class SettingsServers(SettingsLists):
    """What can be done with MCP servers."""

    @on(SettingsForm.ServerChosen)
    def _server_chosen(self, event: SettingsForm.ServerChosen) -> None:
        if event.row is None:
            self.add_server()
        else:
            self._edit_server(event.row)

    @work(exclusive=True, group="dialog")
    async def add_server(self) -> None:
        """Add an MCP server: first its type, then its members."""
        transport = await self.app.push_screen_wait(PickTransportDialog())
        if transport is not None:
            await self._fill_in(Shown(f"New {transport} server"), empty_server(transport))

    @work(exclusive=True, group="dialog")
    async def action_copy_server(self) -> None:
        """Copy the MCP server under the cursor; elsewhere the key chooses a connection."""
        entry = self.form.entry
        if entry is None:
            self.app.ask_for_connection()
            return
        await self._fill_in(Shown("Copy of an MCP server"), copy_of(entry.server, self.form.draft.servers), entry.row)

    async def delete_server(self) -> None:
        """Delete the MCP server under the cursor, at the next save."""
        entry = self.form.entry
        if entry is not None:
            await self.form.change(lambda draft: draft.remove_server(entry.row))
            self.say(Shown("Deleted at the next save; ctrl+z takes it back."))

    @work(exclusive=True, group="dialog")
    async def _edit_server(self, row: int) -> None:
        entry = self.form.draft.servers.entry(row)
        if entry is None:
            return
        hidden = entry.was is not None and self.form.view.hides_secrets
        dialog = McpServerDialog(
            Shown("MCP server"), entry.server, lambda server: self._problems(server, row), hidden=hidden
        )
        server = await self.app.push_screen_wait(dialog)
        if server is not None:
            await self.form.put_server(row, server)

    async def _fill_in(self, title: Shown, server: McpServer, after: int | None = None) -> None:
        filled = await self.app.push_screen_wait(McpServerDialog(title, server, self._problems))
        if filled is not None:
            await self.form.put_server(None, filled, after=after)

    def _problems(self, server: McpServer, row: int | None = None) -> list[Problem]:
        servers = self.form.draft.servers
        changed = servers.add(server) if row is None else servers.edit(row, server)
        number = servers.next_row if row is None else row
        return [problem for problem in mcp_checks.problems(changed) if problem.row == number]
