"""The screens of the deck, by mode; importing this module imports all that they need."""

from collections.abc import Callable

from quarterdeck.tui.commands import Place
from quarterdeck.tui.screens.base import DeckScreen
from quarterdeck.tui.screens.conversations import ConversationsScreen
from quarterdeck.tui.screens.sandboxes import SandboxesScreen
from quarterdeck.tui.screens.settings import SettingsScreen

SCREENS: dict[Place, Callable[[], DeckScreen]] = {
    Place.CONVERSATIONS: ConversationsScreen,
    Place.SANDBOXES: SandboxesScreen,
    Place.SETTINGS: SettingsScreen,
}
