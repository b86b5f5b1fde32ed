"""What the deck connects with: connections and keys of this person, state files, and what is remembered of a run."""

import os
from collections.abc import Callable

from quarterdeck.cli.connect import Connector
from quarterdeck.cli.target import Target
from quarterdeck.config import edit
from quarterdeck.config.files import ConfigError
from quarterdeck.config.load import Config
from quarterdeck.tui.app import Deck
from quarterdeck.tui.connecting import Connecting
from quarterdeck.tui.connections import Connections
from quarterdeck.tui.kept_state import KeptState


def connecting(deck: Deck, target: Target, config: Config, keep: Callable[..., None]) -> Connecting:
    """What opens connections for a deck; `keep` remembers the last one."""
    known = Connections(
        config,
        os.environ,
        asked=target.asked,
        read_only=target.read_only,
        on_open=lambda name: keep(last_connection=name),
    )
    connect = Connector(config, target, os.environ, known)
    return Connecting(deck, connect, known, state=KeptState(config.folders.kept))


def remember(config: Config, **what: str) -> str | None:
    """Write what a person chose into the preferences; gives a sentence where that fails."""
    try:
        edit.remember(config.folders.preferences, **what)
    except ConfigError as error:
        return str(error)
    return None
