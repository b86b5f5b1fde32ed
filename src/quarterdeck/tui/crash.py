"""An app whose crash shows one line and leaves a report, instead of a traceback with every local variable in it."""

import sys
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from quarterdeck.tui.crash_report import farewell
from quarterdeck.tui.terminal.app import TerminalApp


class CrashSafe(TerminalApp):
    """Ends on an unforeseen error with the terminal restored, one sentence, and a report in `crash_folder`."""

    crash_folder: Path
    """Where reports are kept."""
    _crashed = False

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
            self._exit_renderables.append(Text(words, no_wrap=True, overflow="ignore"))
        self._close_messages_no_wait()
