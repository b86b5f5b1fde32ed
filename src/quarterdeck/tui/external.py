"""Other programs: the person's editor and pager, which use the terminal for a while, and a browser.

Texts for them are made safe and written to a temporary file that only its owner can read.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

from textual.app import App, SuspendNotSupported

from quarterdeck.settings import masks
from quarterdeck.tui.text import escaped

KEYS_OF_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""What a terminal sends for ctrl+c and ctrl+backslash to every program in the foreground (termios(3))."""


class CannotRunError(Exception):
    """Another program could not be run; the text says why."""


def edit(app: App[Any], value: str) -> str:
    """Edit a text in the person's editor; raises CannotRunError."""
    return _with(app, ("VISUAL", "EDITOR"), "vi", value)


def view(app: App[Any], value: str) -> None:
    """Show a text in the person's pager; raises CannotRunError."""
    _with(app, ("PAGER",), "less", value)


def _with(app: App[Any], variables: Sequence[str], usual: str, value: str) -> str:
    named = next((os.environ[name] for name in variables if os.environ.get(name, "").strip()), "")
    try:
        command = shlex.split(named or usual)
    except ValueError:
        raise CannotRunError(f"{variables[-1]} cannot be read as a command.") from None
    handle, name = tempfile.mkstemp(prefix="quarterdeck-", suffix=".md")
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(escaped(value))
        with app.suspend():
            ended = _status([*command, name])
        if isinstance(ended, OSError):
            raise ended
        if ended != 0:
            raise CannotRunError(f"{command[0]} ended with {ended}; nothing was changed.")
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
    except SuspendNotSupported:
        raise CannotRunError("No other program can use this terminal.") from None
    except OSError as error:
        raise CannotRunError(f"{command[0]} cannot be run: {error.strerror}.") from None
    finally:
        path.unlink(missing_ok=True)


def _status(command: Sequence[str]) -> int | OSError:
    """Run a program and return how it ended; Textual takes the terminal back only where nothing is raised meanwhile.

    Meanwhile ctrl+c and ctrl+backslash are keys of that program, though the terminal sends them to the deck, too.
    """
    heeded = [number for number in KEYS_OF_TERMINAL if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _leave_to_it) for number in heeded}
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        return error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave_to_it(number: int, frame: FrameType | None) -> None:
    """Do nothing; unlike an ignored signal, one that is handled has its usual effect in the other program (exec(3))."""


def can_open_browser(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Whether a graphical browser can open; over SSH or without a display, a text browser would take the terminal."""
    if platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in environ
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def open_address(app: App[Any], address: str, shown: str) -> str:
    """Open an address in a browser if there is one, otherwise copy it; returns the message about it."""
    if can_open_browser():
        Thread(target=_browse, args=(address,), daemon=True).start()
        return f"Asked the browser to open {shown}"
    app.copy_to_clipboard(address)
    secret = " with its password or token" if masks.address(address) != address else ""
    return f"No display for a browser: copied {shown}{secret}, if your terminal takes copies (OSC 52)."


def _browse(address: str) -> None:
    """Open an address in a process of its own: a browser may write to its terminal, and run for long."""
    command, null = [sys.executable, "-I", "-m", "webbrowser", address], subprocess.DEVNULL
    subprocess.run(command, stdin=null, stdout=null, stderr=null, start_new_session=True, check=False)
