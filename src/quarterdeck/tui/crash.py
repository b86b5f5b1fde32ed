"""The app under all of the deck: it drives the terminal of a person, and a crash of it shows no value it was holding.

Textual prints a traceback with local variables, and those may be keys. This is the one place that goes around it, with
Textual's inner names; tests/test_crash.py crashes an app of the installed release in every way.
"""

import sys
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text
from textual import events, on
from textual.app import App
from textual.binding import Binding
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from quarterdeck.tui.crash_report import farewell
from quarterdeck.tui.driver import PersonDriver


class CrashSafe(App[int]):
    """Ends on an unforeseen error with the terminal restored, one sentence, and a report in `crash_folder`."""

    BINDINGS = [Binding("ctrl+l", "redraw", show=False, priority=True)]
    crash_folder: Path
    """Where reports are kept."""
    _crashed = False

    def get_driver_class(self) -> type[Driver]:
        """What drives the terminal: Textual's choice, but for the terminal of a person."""
        chosen = super().get_driver_class()
        return PersonDriver if chosen is LinuxDriver else chosen

    def send_to_terminal(self, sequence: str) -> None:
        """Send what the terminal acts on and does not show, such as a notice."""
        driver = self._driver
        if driver is not None and not self.is_headless:
            driver.write(sequence)

    @on(Driver.SignalResume)
    @on(events.Resize)
    def action_redraw(self) -> None:
        """Draw all of it.

        The shell has had the screen while the app was asleep, and a terminal that is as large as before may have been
        smaller in between.
        """
        self.screen.refresh()

    def panic(self, *renderables: RenderableType) -> None:
        """End like any crash: what an error brings to be printed may quote anything."""
        self._fatal_error()

    def _fatal_error(self) -> None:
        """End the app; of several errors only the first is told, whatever follows from its ending."""
        self.bell()
        if not self._crashed:
            self._crashed = True
            error = sys.exception() or self._exception or RuntimeError()
            words = farewell(error, self.crash_folder)
            super().exit(None, 1, Text(words, no_wrap=True, overflow="ignore"))
        self._close_messages_no_wait()
