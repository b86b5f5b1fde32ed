"""Somebody at the settings form: goes to a field by the filter, types, pastes, saves."""

import re
from typing import Any

from quarterdeck.client.client import Client
from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.tui.screens.settings import SettingsScreen
from quarterdeck.tui.widgets.form.form import SettingsForm
from tests.tui.seat import Seat, Until, Words


class FormSeat(Seat):
    """A deck on its settings screen."""

    @classmethod
    async def at(cls, seat: Seat, *, loaded: bool = True) -> "FormSeat":
        """Go to the settings and wait until they are there."""
        own = cls(seat.deck, seat.pilot)
        await own.press("3")
        await own.until(lambda: own.deck.place == "settings")
        if loaded:
            await own.until(lambda: any(isinstance(screen, SettingsScreen) for screen in own.deck.opened))
            await own.until(lambda: own.settings.record.loaded)
            await own.sees("LLM", "Model")
        return own

    @property
    def settings(self) -> SettingsScreen:
        """The settings screen, whatever is above it."""
        return next(screen for screen in self.deck.opened if isinstance(screen, SettingsScreen))

    @property
    def form(self) -> SettingsForm:
        """The form."""
        return self.settings.form

    @property
    def client(self) -> Client:
        """The deck's client."""
        return self.session.client

    async def stored(self) -> Settings:
        """What the server holds."""
        found = await self.client.settings.load()
        assert found is not None
        return found

    async def servers(self) -> McpConfig:
        """The MCP servers that the server holds."""
        config = (await self.stored()).mcp_config
        assert config is not None
        return config

    @property
    def posts(self) -> int:
        """How many stores were sent."""
        return sum(request.method == "POST" for request in self.client.log)

    async def pause(self) -> None:
        """Wait until all is painted; whatever is on the screen then, no secret is."""
        await super().pause()
        assert "sentinel" not in self.text

    async def type(self, words: str, *keys: str, sees: Words = (), until: Until = lambda: True) -> None:
        """Type text, as fast as the deck takes it in, then press keys."""
        self.at_once(*words)
        await self.press(*keys, sees=sees, until=until)

    async def go_to(self, row: str, *keys: str, sees: Words = (), until: Until = lambda: True) -> None:
        """Put the cursor on a row, once it is there, and press keys."""

        def is_there() -> bool:
            self.form.list.move_to(row)
            return self.form.row.id == row

        await self.until(is_there)
        await self.press(*keys, sees=sees, until=until)

    async def fill(self, key: str, words: str, *keys: str, sees: Words = ()) -> None:
        """Type a value into a field, in place of what is there, then press keys."""
        await self.go_to(key, "enter")
        await self.type(words, *keys, sees=sees)

    async def edit(self, key: str, words: str, *, sees: Words = ()) -> None:
        """Give a field another value."""
        await self.fill(key, words, "enter", sees=sees)

    async def paste(self, words: str, *keys: str, sees: Words = ()) -> None:
        """Paste into whatever has the keyboard, then press keys."""
        self.paste_at_once(words)
        await self.press(*keys, sees=sees)

    async def choose(self, label: str, *, sees: Words = ()) -> None:
        """Open the menu of the row and take what is called so there."""
        await self.press("f2", sees="do it")
        if f" {label} " not in self.text:
            await self.press("G", sees=f" {label} ")
        line = self.line_of(f" {label} ")
        await self.press(line[: line.index(f" {label} ")].split()[-1], sees=sees)

    async def agree(self, *, sees: Words = ()) -> None:
        """Agree to a review, even where something is lost."""
        await self.sees("show the request")
        await self.press("y" if "also loses" in self.text else "enter", sees=sees)

    async def add_command(self, name: str) -> None:
        """Add a stdio MCP server that runs uvx."""
        await self.press("a", "enter", sees="New stdio server")
        await self.type(name, "tab")
        await self.type("uvx", "ctrl+s", sees=f"{name}  uvx")

    @property
    def unwrapped(self) -> str:
        """The screen as one line, without the frame and the scroll bar of a dialog."""
        return " ".join(re.sub(r"[\u2580-\u259f]", " ", self.text).split())

    def body_of(self, changes: SettingsChanges) -> Any:
        """What a save of these changes would send."""
        return self.client.settings.preview(self.form.draft.base, changes).request.body

    async def save_verified(self, count: int) -> None:
        """Save, agree even where something is lost, and see that all of it is stored."""
        await self.save(sees=(f"Saved · {count} of {count} verified", "As stored"))

    async def save(self, *, sees: Words = ()) -> None:
        """Save, and agree to what the review says, even where something is lost."""
        await self.press("ctrl+s")
        await self.agree(sees=sees)

    async def saved_servers(self, count: int) -> McpConfig:
        """Save so many changes, and read the MCP servers that are stored then."""
        await self.save_verified(count)
        return await self.servers()
