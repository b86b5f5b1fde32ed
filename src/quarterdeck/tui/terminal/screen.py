"""A screen that is drawn with one pen, as soon as it asks, and at rest between."""

import asyncio

from textual import getters
from textual.screen import UPDATE_PERIOD, Screen, ScreenResultType
from textual.timer import Timer

from quarterdeck.tui.terminal.app import TerminalApp
from quarterdeck.tui.terminal.narrow_updates import NarrowCompositor


class TerminalScreen(Screen[ScreenResultType]):
    """A screen of a `TerminalApp`."""

    app = getters.app(TerminalApp)

    def __init__(self, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(name, id, classes)
        self._compositor = NarrowCompositor(self.app.pen)
        self._turns = _DrawingTurns(self)

    @property
    def _update_timer(self) -> Timer:
        return self._turns


class _DrawingTurns(Timer):
    """Has a screen drawn when it asks for it, and not again before a turn has passed.

    Textual's own is a task, which wakes a program at rest once more after each drawing.
    """

    def __init__(self, screen: TerminalScreen[ScreenResultType]) -> None:
        super().__init__(screen, UPDATE_PERIOD, pause=True)
        self._screen = screen
        self._next: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        """On the loop's clock."""

    def resume(self) -> None:
        """Have what changed drawn at the next turn."""
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._next = loop.call_at(max(self._drawn_at + UPDATE_PERIOD, loop.time()), self._draw)

    def pause(self) -> None:
        """Have nothing drawn until `resume`."""
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _draw(self) -> None:
        self._next, self._drawn_at = None, asyncio.get_running_loop().time()
        app = self._screen.app
        if app._exit:
            return
        try:
            with self._screen._context():  # whoever asked for it
                self._screen._on_timer_update()
        except Exception as error:  # noqa: BLE001 - as everywhere in Textual, the app ends with it
            app._handle_exception(error)
