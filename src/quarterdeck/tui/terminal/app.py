"""An app whose screens reach a terminal in as few bytes as may be."""

from __future__ import annotations

from rich.console import RenderableType
from textual import events, on
from textual.app import App
from textual.binding import Binding
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen

from quarterdeck.tui.terminal.driver import LoopDriver
from quarterdeck.tui.terminal.narrow_updates import NarrowUpdate
from quarterdeck.tui.terminal.pen import Pen


class TerminalApp(App[int]):
    """Drives the terminal from the event loop, and has one pen for all of its screens."""

    BINDINGS = [Binding("ctrl+l", "draw_again", show=False, priority=True)]

    def __init__(self) -> None:
        super().__init__()
        self.pen = Pen(self.console)

    def get_driver_class(self) -> type[Driver]:
        """What drives the terminal: Textual's choice, but for the terminal of a person."""
        chosen = super().get_driver_class()
        return LoopDriver if chosen is LinuxDriver else chosen

    @on(Driver.SignalResume)
    @on(events.Resize)
    def action_draw_again(self) -> None:
        """Draw all of it.

        The shell has had the screen while the app was asleep, and a terminal that is as large as before may have been
        smaller in between.
        """
        self._let_others_write()
        self.screen.refresh()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Send what changed; what Textual writes itself begins with the terminal's own style."""
        if not isinstance(renderable, NarrowUpdate | None):
            self._let_others_write()
        super()._display(screen, renderable)

    def _let_others_write(self) -> None:
        if self._driver is not None and self._running and not self._closed:
            self._driver.write(self.pen.put_down())
