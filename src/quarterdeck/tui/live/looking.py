"""What somebody looks at: it decides what each list has read, and how often."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from quarterdeck.fleet.watch import Watch
from quarterdeck.tui.live.news import About


class Looking:
    """Which rows of which list are on the screen; the other lists rest."""

    def __init__(self, watches: Mapping[About, Watch[Any]]) -> None:
        self._watches = watches
        self._visible: dict[About, tuple[str, ...]] = {}
        self.hidden = False
        """Whether the terminal is out of sight."""

    def look(self, about: About, visible: Sequence[str]) -> None:
        """Say what is on the screen."""
        self._visible = {about: tuple(visible)}

    def visible(self, about: About) -> tuple[str, ...]:
        """The rows of a list that are on the screen."""
        return self._visible.get(about, ())

    def tell(self, about: About, transitional: Collection[str], watched: Sequence[str] = ()) -> None:
        """Tell a list what to read; what is watched is read as if it were always on the screen."""
        hidden = self.hidden or about not in self._visible
        visible = watched if hidden else (*self._visible[about], *watched)
        self._watches[about].look(visible=visible, transitional=transitional, hidden=hidden and not watched)
