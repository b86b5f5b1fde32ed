"""The name of an LLM profile: of a new one, or another one for one that is there."""

from collections.abc import Collection, Iterable

from quarterdeck.client.profiles import NAME, ProfilesResource
from quarterdeck.settings.fields import Problem
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.sending import SendingDialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput
from quarterdeck.tui.widgets.settings.lists import MOST_PROFILES
from quarterdeck.tui.widgets.settings.member import Member

NAME_RULE = "1 to 64 letters, digits, dots, dashes and _"


class ProfileNameDialog(SendingDialog):
    """Ask for a name that no other profile has."""

    BLAMED = "name"

    def __init__(self, title: Shown, profiles: ProfilesResource, taken: Collection[str], name: str = "") -> None:
        super().__init__(title)
        self._profiles = profiles
        self._taken = taken
        self._called = name

    def members(self) -> Iterable[Member]:
        """The name."""
        yield Member("name", "Name", LineInput(text.line(self._called), placeholder="fast-and-cheap"), NAME_RULE)

    def problems(self) -> Iterable[Problem]:
        """A name that is none, or that is taken."""
        name = self.typed("name")
        if NAME.fullmatch(name) is None:
            yield Problem("", f"A name has {NAME_RULE}.", member="name")
        elif name in self._taken and name != self._called:
            yield Problem("", "Another profile has this name.", member="name")


class SaveProfileDialog(ProfileNameDialog):
    """Save the stored LLM settings as a profile."""

    def __init__(self, profiles: ProfilesResource, taken: Collection[str]) -> None:
        super().__init__(Shown("Save the LLM settings as a profile"), profiles, taken)

    def said(self) -> Iterable[Cell]:
        """What is in it, and how many there can be."""
        yield cell(Shown("The stored model, key and all that belongs to them."), Tone.MUTED)
        left = MOST_PROFILES - len(self._taken)
        yield cell(Shown(f"A server keeps {MOST_PROFILES} profiles; there is room for {left}."), Tone.MUTED)

    async def send(self) -> Shown:
        """Save it."""
        name = self.typed("name")
        await self._profiles.save(name)
        return text.line(f"The profile {name} is saved.")


class RenameProfileDialog(ProfileNameDialog):
    """Give a profile another name."""

    def __init__(self, profiles: ProfilesResource, taken: Collection[str], name: str) -> None:
        super().__init__(text.line(f"Rename the profile {name}"), profiles, taken, name)

    async def send(self) -> Shown:
        """Rename it."""
        name = self.typed("name")
        if name != self._called:
            await self._profiles.rename(self._called, name)
        return text.line(f"The profile is called {name}.")
