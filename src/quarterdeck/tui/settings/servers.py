"""The list of MCP servers in the form: changes of the draft, and checks, JSON and files."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quarterdeck.client.client import Client
from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.settings import mcp_checks, words
from quarterdeck.settings.draft import MCP
from quarterdeck.settings.fields import Problem
from quarterdeck.settings.mcp import Entry, Servers, converted, copy_of, empty_server, without_duplicates
from quarterdeck.settings.mcp_json import MergedPaste, without_secrets
from quarterdeck.settings.mcp_server import bare, filled, missing
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.file_path import save_dialog
from quarterdeck.tui.dialogs.mcp_paste import MOST_NOTES, PasteServersDialog
from quarterdeck.tui.dialogs.mcp_server import McpServerDialog
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.dialogs.pick import Item, PickDialog, choice
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.form import SettingsForm
from quarterdeck.tui.widgets.form.rows import CheckResult, row_of

DISABLED = "Disabled at the next save: kept on this machine, not on the service. ctrl+z takes it back."
DISABLED_TITLE = "Disabled MCP server: kept here, with what you type"
UNTOLD = "The service does not tell its key and hidden values: if it has any, type them when you enable it."
KEPT, BARE, LEAVE = "with its secrets", "without them", "leave it"
"""The two ways to disable a server, and not to."""
AT_ONCE = 4
"""How many addresses are checked at the same time: fewer than the threads that look up names and write files."""
SHOWN_EVERY = 1.0
"""Seconds between two paintings of what checks have found: painting a thousand servers takes a while."""
_KINDS: Mapping[type[McpServer], str] = {
    StdioServer: "a command started inside the sandbox",
    ShttpServer: "an address that speaks streamable HTTP",
    SseServer: "an address that speaks server-sent events",
}


@dataclass(frozen=True)
class ServerList:
    """The commands for MCP servers; `say` shows one sentence."""

    app: Deck
    form: SettingsForm
    say: Callable[[str, Tone], None]

    @property
    def _entry(self) -> Entry:
        """The server under the cursor; commands on one server are refused elsewhere."""
        entry = self.form.row.entry
        if entry is None:
            raise LookupError("no MCP server is under the cursor")
        return entry

    # Adding and editing

    async def action_add(self) -> None:
        """Add a server: ask for its type, then for its members."""
        items = [
            Item[type[McpServer]](((Shown(f"{model.kind:<7}"), Tone.STRONG), (Shown(said), Tone.MUTED)), model)
            for model, said in _KINDS.items()
        ]
        dialog = PickDialog[type[McpServer]]("Add an MCP server", items)
        await ask(self.app, dialog, lambda model: self._fill_in(f"New {model.kind} server", empty_server(model)))

    async def edit(self) -> None:
        """Edit the server under the cursor, or add the first one."""
        entry = self.form.row.entry
        if entry is None:
            await self.action_add()
        else:
            await self._fill_in(DISABLED_TITLE if entry.disabled else "MCP server", entry.server, entry=entry)

    async def action_copy_server(self) -> None:
        """Add a copy of the server below it."""
        entry = self._entry
        copy = copy_of(entry.server, self.form.draft.servers)
        await self._fill_in("Copy of an MCP server", copy, after=entry.row)

    async def _fill_in(
        self, title: str, server: McpServer, *, entry: Entry | None = None, after: int | None = None
    ) -> None:
        """Edit the server of an entry, or, without one, fill in a new one to be placed `after` a row."""

        def row() -> int:
            return self.form.draft.servers.next_row if entry is None else entry.row

        def changed(servers: Servers, server: McpServer) -> Servers:
            return servers.add(server, after) if entry is None else servers.edit(entry.row, server)

        def problems(server: McpServer) -> list[Problem]:
            found = changed(self.form.draft.servers, server).problems
            return [problem for problem in found if problem.row == row()]

        async def done(server: McpServer) -> None:
            own = row_of(MCP, row())
            await self.form.change(lambda draft: draft.change_servers(changed, server))
            self.form.go_to(own)

        stored = entry is not None and entry.was is not None
        hidden = self.form.view.hides_secrets
        wrong = None if entry is None else self.form.view.problems.get(row_of(MCP, entry.row))
        refused = wrong if wrong is not None and wrong.stops else Problem("")
        dialog = McpServerDialog(title, server, problems, hidden=hidden, stored=stored, refused=refused)
        await ask(self.app, dialog, done)

    # Changes of the draft

    async def action_delete(self) -> None:
        """Delete the server."""
        entry = self._entry
        when = "Deleted" if entry.before is None else "Deleted at the next save"
        await self._change(lambda servers: servers.remove(entry.row), f"{when}; ctrl+z takes it back.")

    async def action_disable(self) -> None:
        """Move the server from the service to this machine, or back."""
        entry = self._entry
        if entry.disabled:
            server = filled(entry.server, entry.was)
            hidden = ", ".join(missing(server))
            lacks = f"Still to be typed: {hidden}." if hidden else ""
            if entry.was is None and not lacks and self.form.view.hides_secrets and not words.holds_secret(server):
                lacks = "The service told no key of it; type it if it needs one."
            when = "Stored again at the next save" if entry.was is None else "It stays on the service"
            said = f"{when}. {lacks}".strip()
            await self._change(lambda servers: servers.enable(entry.row), said, Tone.WARN if lacks else Tone.PLAIN)
            return

        async def disable(answer: str) -> None:
            if answer != LEAVE:
                kept = answer == KEPT
                await self._change(lambda servers: servers.disable(entry.row, with_secrets=kept), DISABLED)

        choices = _disable_choices(entry, hidden=self.form.view.hides_secrets)
        if not choices:
            await disable(KEPT)
            return
        about = [
            cell(words.server_title(entry.server), Tone.STRONG),
            cell("After the next save this machine keeps it, not the service, until you enable it."),
            *([cell(UNTOLD, Tone.WARN)] if bare(entry.server) == entry.server else ()),
        ]
        dialog = PickDialog("Disable an MCP server", choices, said=about)
        await ask(self.app, dialog, disable)

    async def action_convert(self) -> None:
        """Convert a server between SSE and HTTP."""
        entry = self._entry
        before, other = entry.before, converted(entry.server)
        if before is not None and converted(before) == entry.server:
            other = before  # with what the other type does not have
        if other is not None:
            said = f"It is {other.kind} from the next save on; ctrl+z takes that back."
            await self._change(lambda servers: servers.edit(entry.row, other), said)

    async def action_remove_duplicates(self) -> None:
        """Delete all but one of each group of equal servers, at the next save."""
        servers = self.form.draft.servers
        copies = [servers.entry(row) for group in servers.duplicates for row in group[1:]]
        stored = any(entry is not None and entry.was is not None for entry in copies)
        local = self.form.view.server is not None and self.form.view.server.local
        when = " at the next save" if stored else ""
        back = " What the server's own config.toml has comes back." if stored and not local else ""
        await self._change(without_duplicates, f"{words.counted(len(copies), 'duplicate')}: gone{when}.{back}")

    async def action_import_servers(self) -> None:
        """Add servers from pasted JSON, in one step of the draft."""

        async def pasted_in(taken: MergedPaste) -> None:
            said = f"{taken.words}; ctrl+s reviews and saves, ctrl+z takes it back."
            if await self.form.take_over(self.form.draft.set(MCP, taken.servers)):
                self.say(said, Tone.GOOD)
            if len(taken.notes) > MOST_NOTES:
                notes = [cell(note) for note in taken.notes]
                await self.app.push_screen(PageDialog("Notes on what was pasted", notes))

        dialog = PasteServersDialog(self.form.draft.servers, nested=self.form.view.hides_secrets)
        await ask(self.app, dialog, pasted_in)

    async def _change(self, change: Callable[[Servers], Servers], said: str, tone: Tone = Tone.PLAIN) -> None:
        if await self.form.change(lambda draft: draft.change_servers(change)):
            self.say(said, tone)

    # Copying and writing the list

    def copy(self) -> None:
        """Copy the server under the cursor as JSON, without its secrets."""
        self._copy((self._entry,))

    def action_copy_servers(self) -> None:
        """Copy all servers as JSON, without their secrets."""
        self._copy(self.form.draft.servers.entries)

    def _copy(self, entries: Sequence[Entry]) -> None:
        copied = without_secrets(entry.server for entry in entries)
        name = words.server_title(entries[0].server) if len(entries) == 1 else words.counted(len(entries), "server")
        self.say(self.app.copy_text(f"{name} as JSON without secrets", copied, "; f2 writes a file"), Tone.PLAIN)

    async def action_servers_file(self) -> None:
        """Write the server under the cursor, or all of them if there is none, to a file as JSON without secrets."""
        here = self.form.row.entry
        entries = (here,) if here is not None else self.form.draft.servers.entries
        written = text.escaped(without_secrets(entry.server for entry in entries)) + "\n"
        said = [cell(f"{words.counted(len(entries), 'MCP server')} as JSON. No secret is in it.")]
        dialog = save_dialog(self.app, "MCP servers to a file", said, Path("mcp-servers.json"), lambda _: written)
        await ask(self.app, dialog, lambda said: self.say(said, Tone.GOOD))

    # Checks

    def action_check(self) -> None:
        """Check the server under the cursor from this machine."""
        self.form.run_worker(self._check((self._entry,)), group="settings-check")

    def action_check_all(self) -> None:
        """Check all servers from this machine."""
        self.form.run_worker(self._check(self.form.draft.servers.entries), group="settings-check")

    async def _check(self, entries: Sequence[Entry]) -> None:
        """Check servers; a sentence says how far it is, then all about a single one, or how many are good."""
        found = {entry.row: CheckResult(entry.server, "checking…", Tone.BUSY) for entry in entries}
        gate, client = asyncio.Semaphore(AT_ONCE), self.app.client

        async def check(entry: Entry) -> None:
            async with gate:
                found[entry.row] = await _checked(client, entry)

        def show() -> None:
            done = sum(each.tone is not Tone.BUSY for each in found.values())
            self.say(f"Checking MCP servers: {done:,} of {len(found):,}", Tone.BUSY)
            self.form.show_checks(found)

        show()
        ticking = self.form.set_interval(SHOWN_EVERY, show)
        await asyncio.gather(*map(check, entries))
        ticking.stop()
        self.form.show_checks(found)
        if len(entries) == 1:
            result = found[entries[0].row]
            self.say(result.words, Tone.PLAIN if result.tone is Tone.GOOD else Tone.WARN)
            return
        told = []
        for is_command, what in ((False, "addresses good"), (True, "commands of good form")):
            tones = [each.tone for each in found.values() if isinstance(each.server, StdioServer) is is_command]
            told += [f"{tones.count(Tone.GOOD):,} of {len(tones):,} {what}"] if tones else []
        self.say(f"From this machine: {', '.join(told)}. A sandbox's network may differ.", Tone.PLAIN)


async def _checked(client: Client | None, entry: Entry) -> CheckResult:
    """Check an address from this machine; only the server's own key is sent. A command is never run."""
    server, title = entry.server, words.server_title(entry.server)
    wrong = next((problem for problem in mcp_checks.problems(server) if problem.stops), None)
    if wrong is not None:
        return CheckResult(server, "not tried", Tone.BAD, f"{title} was not tried: {wrong.words}")
    if isinstance(server, StdioServer):
        told = f"{title} has a good form; a command is never run from here."
        return CheckResult(server, "form good", Tone.GOOD, told)
    if client is None:
        return CheckResult(server, "not tried", Tone.BAD, f"{title} was not tried: not connected.")
    reached = await client.probe(server.url, server.api_key)
    told = f"{title} {reached.words}" if reached.words[0].islower() else f"{title}: {reached.words}"
    return CheckResult(server, reached.brief, Tone.GOOD if reached.good else Tone.BAD, told)


def _disable_choices(entry: Entry, *, hidden: bool) -> list[Item[str]]:
    """Return the choices for the secrets of a disabled server, if there are any to keep or lose.

    `hidden` means that the service returns no secrets of its servers.
    """
    leave = choice(LEAVE, "n", "Leave it", "it stays as it is")
    if bare(entry.server) != entry.server:
        return [
            leave,
            choice(KEPT, "s", "With secrets", "kept in a private file on this machine (0600)"),
            choice(BARE, "w", "Without them", "to be typed again when it is enabled"),
        ]
    if hidden and entry.was is not None and not words.has_secret(entry.server):
        return [leave, choice(KEPT, "d", "Disable it", "what is known of it is kept here")]
    return []
