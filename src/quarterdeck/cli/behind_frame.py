"""What the deck connects with: connections and keys of this person, state files, and what is remembered of a run."""

import os
from collections.abc import Callable
from functools import partial

from quarterdeck.cli.connect import connect
from quarterdeck.config import edit
from quarterdeck.config.files import ConfigError
from quarterdeck.config.keys import Keys
from quarterdeck.config.load import Config
from quarterdeck.tui.app import Deck
from quarterdeck.tui.connecting import Connecting
from quarterdeck.tui.kept_state import KeptState


def connecting(deck: Deck, config: Config, keep: Callable[..., None], *, read_only: bool) -> Connecting:
    """What opens connections for a deck; `keep` remembers the last one."""
    folders = config.folders
    keys = Keys(folders.keys, os.environ)
    return Connecting(
        deck,
        partial(connect, folders.data, keys),
        folders.connections,
        keys,
        KeptState(folders.kept),
        read_only=read_only,
        on_open=lambda name: keep(last_connection=name),
    )


def remember(config: Config, **what: str) -> str | None:
    """Write what a person chose into the preferences; gives a sentence where that fails."""
    try:
        edit.remember(config.folders.preferences, **what)
    except ConfigError as error:
        return str(error)
    return None
