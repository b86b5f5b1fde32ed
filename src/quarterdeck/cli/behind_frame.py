"""What the deck uses to connect: connections, keys and state files."""

import os
from functools import partial

from quarterdeck.cli.connect import connect
from quarterdeck.config.keys import Keys
from quarterdeck.config.load import Config
from quarterdeck.tui.app import Deck
from quarterdeck.tui.connecting import Connecting
from quarterdeck.tui.connections import Connections
from quarterdeck.tui.kept_state import KeptState


def connecting(deck: Deck, config: Config, *, read_only: bool, by_choice: bool) -> Connecting:
    """Return the `Connecting` of a deck, which gets its connections and its state."""
    folders, keys = config.folders, Keys(config.folders.keys, os.environ)
    opening = partial(connect, folders.data, keys)
    deck.connections = Connections(deck.endpoint, opening, folders.connections, keys, read_only=read_only)
    deck.state = KeptState(folders.kept)
    return Connecting(deck, folders.preferences, by_choice=by_choice)
