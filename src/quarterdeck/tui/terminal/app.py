"""An app whose screens reach a terminal in as few bytes as may be."""

from __future__ import annotations

from rich.console import RenderableType
from textual import on
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen

from quarterdeck.tui.terminal.driver import LoopDriver
from quarterdeck.tui.terminal.narrow_updates import NarrowUpdate
from quarterdeck.tui.terminal.pen import Pen


class TerminalApp(App[int]):
    """Drives the terminal from the event loop, and has one pen for all of its screens."""

    def __init__(self) -> None:
        super().__init__()
        self.pen = Pen(self.console)

    def get_driver_class(self) -> type[Driver]:
        """What drives the terminal: Textual's choice, but for the terminal of a person."""
        chosen = super().get_driver_class()
        return LoopDriver if chosen is LinuxDriver else chosen

    @on(Driver.SignalResume)
    def draw_again(self) -> None:
        """Draw all of it: the shell has had the screen while the app was asleep."""
        self.screen.refresh()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Send what changed; what Textual writes itself begins with the terminal's own style."""
        driver = self._driver if self._running and not self._closed else None
        if driver is not None and not isinstance(renderable, NarrowUpdate | None):
            driver.write(self.pen.put_down())
        super()._display(screen, renderable)
