"""The base class of the app: its terminal driver, and crashes that print no values.

Textual prints a traceback with local variables, which may be keys. This is the only place that avoids it by overriding
internal names of Textual; tests/cli/test_terminal.py crashes the deck in every way.
"""

import sys
from pathlib import Path

from rich.console import RenderableType
from textual import events, on
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from quarterdeck.tui.commands import bindings
from quarterdeck.tui.crash_report import farewell
from quarterdeck.tui.driver import PersonDriver


class CrashSafe(App[int]):
    """Ends after an unexpected error with the terminal restored, one sentence, and a report in `crash_folder`."""

    BINDINGS = bindings({"ctrl+l": "redraw"}, priority=True)
    crash_folder: Path
    """The folder for reports."""
    last_words = ""
    """What to print after a crash, when the terminal is restored: one line, which Textual would break to its width."""

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver class, replaced by ours for a person's terminal."""
        chosen = super().get_driver_class()
        return PersonDriver if chosen is LinuxDriver else chosen

    def send_to_terminal(self, sequence: str) -> None:
        """Send a sequence that the terminal acts on without showing it, such as a notification."""
        driver = self._driver
        if driver is not None and not self.is_headless:
            driver.write(sequence)

    @on(Driver.SignalResume)
    @on(events.Resize)
    def action_redraw(self) -> None:
        """Redraw everything.

        While the app was suspended, the shell used the screen; and a terminal of the same size as before may have been
        smaller in between.
        """
        self.screen.refresh()

    def panic(self, *renderables: RenderableType) -> None:
        """End as after any crash, without printing: the renderables of an error may contain any value."""
        self._fatal_error()

    def _fatal_error(self) -> None:
        """End the app and report the first error only; errors that follow from ending are ignored."""
        self.bell()
        if not self.last_words:
            error = sys.exception() or self._exception or RuntimeError()
            self.last_words = farewell(error, self.crash_folder)
            super().exit(None, 1)
        self._close_messages_no_wait()
