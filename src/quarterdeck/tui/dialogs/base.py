"""The base of all dialogs: title, scrolling body, a line for errors, key hints, and escape to cancel."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, TypeAlias, TypeVar

from textual import getters, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Vertical
from textual.events import Key, Paste, ScreenResume
from textual.screen import ModalScreen
from textual.widget import AwaitMount, Widget
from textual.widgets import Static

from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import MOVING, bindings
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.widgets.bars import Hints, KeyBar, Said, unused_key, working
from quarterdeck.tui.widgets.lines import Lines, TextScroll

Result = TypeVar("Result")
V = TypeVar("V")
Now: TypeAlias = V | Callable[[], V]
"""Something to show, or what returns it as it is now."""
RENEWED_EVERY = 0.5
"""Seconds between two looks at how it is now."""
SCROLL = ("↑ ↓", "scroll")
"""The hint that is shown only while not all of the body is in sight."""


class Dialog(ModalScreen[Result | None]):
    """A dialog above a screen. It changes nothing itself: it dismisses with the answer, or with None for escape."""

    app = getters.app(Deck)
    CSS_PATH = Path(__file__).with_name("dialog.tcss")
    AUTO_FOCUS = ""
    BINDINGS = bindings({"escape": "cancel", **MOVING, "space": "page(1.0)"})
    HINTS: ClassVar[Hints] = (("esc", "cancel"),)

    def __init__(self, title: Now[str], said: Now[Sequence[Cell]] = (), *, wide: bool = False) -> None:
        """Create a dialog that begins with the lines `said`; it is `wide` for a table, and above a wide one.

        A title that became empty leaves what stands there.
        """
        super().__init__(classes="-wide" if wide else None)
        self._title = title
        self._begins = said
        self._titled = Static(id="title")
        self._said = Lines(id="said")
        self._body = TextScroll(id="body", can_focus=False)
        self._problem = Static(id="problem")
        self._key_bar = KeyBar()
        self._hinted: Hints = ()
        self.hint(self.HINTS)
        self._waits = False
        """Whether it says what it waits for."""
        self._lost_at = 0.0
        """When a key came last that went nowhere because of that."""
        self._answers: tuple[Result | None, ...] = ()
        """What it closes with, once it may."""

    def compose(self) -> ComposeResult:
        """The frame; its content comes from `body`."""
        with Vertical(id="frame"):
            yield self._titled
            with self._body:
                yield from self.body()
            with Vertical(id="foot"):
                yield from self.foot()
                yield self._problem
                yield self._key_bar

    def body(self) -> Iterable[Widget]:
        """The widgets inside the frame: the first lines, and what a dialog adds."""
        yield self._said

    def introduce(self, said: Sequence[Cell]) -> None:
        """Show other first lines."""
        self._begins = said
        self.renew()

    def renew(self) -> None:
        """Show how it is now; what is unchanged costs nothing."""
        title, said = plain(now(self._title), Tone.STRONG), now(self._begins)
        if title and title != self._titled.content:
            self._titled.update(title)
        self._said.say(said)
        self._said.display = bool(said)

    def _look(self) -> None:
        if not self._answers:
            self.renew()

    def foot(self) -> Iterable[Widget]:
        """Widgets that stay visible below a scrolling body."""
        return ()

    def first_focus(self) -> Widget | None:
        """Return the widget that is focused first; None if keys are handled by the dialog itself."""
        return next((widget for widget in self.query("#frame *") if widget.focusable and widget.display), None)

    def on_mount(self) -> None:
        """Take the focus before the next key arrives, and cover the lines of a wide dialog below."""
        if any(isinstance(each, Dialog) and each.has_class("-wide") for each in self.app.screen_stack):
            self.add_class("-wide")
        self.set_focus(self.first_focus(), scroll_visible=False)
        self.watch(self._body, "show_vertical_scrollbar", self._hint_at_scrolling, init=False)
        self.renew()
        self.set_interval(RENEWED_EVERY, self._look)

    def complain(self, problem: str | None) -> None:
        """Show a sentence about what is wrong, or remove it."""
        self.say(problem or "", Tone.BAD)

    def say(self, sentence: str | Cell, tone: Tone = Tone.PLAIN) -> None:
        """Show a sentence above the hints, or a cell as it is."""
        self._waits = tone is Tone.BUSY
        self._problem.update(plain(sentence, tone) if isinstance(sentence, str) else content(sentence))
        self._problem.display = bool(sentence)

    @on(Said)
    def _say_it_here_too(self, said: Said) -> None:
        self.say(said.words, Tone.WARN)

    def hint(self, hints: Hints) -> None:
        """Show other key hints."""
        self._hinted = hints
        self._show_hints()

    def _show_hints(self) -> None:
        shown = (hint for hint in self._hinted if hint != SCROLL or self._body.show_vertical_scrollbar)
        self._key_bar.hints = working(shown)
        self._key_bar.refresh(layout=True)

    def _hint_at_scrolling(self) -> None:
        self.call_after_refresh(self._show_hints)  # a layout that is asked for during another one is lost

    def on_key(self, event: Key) -> None:
        """Say that a key does nothing, in place of anything but what is waited for."""
        if self._waits:
            self._lost_at = monotonic()
        elif event.key == "ctrl+c":
            self.app.action_help_quit()
        elif key := unused_key(event):
            self.say(f"{key} does nothing here; the keys are below.", Tone.WARN)

    @on(Paste)
    def _say_not_taken(self) -> None:
        """Say that pasted text does nothing where no field takes it, in place of anything but what is waited for."""
        if not self._waits:
            self.say("Pasted text does nothing here.", Tone.WARN)

    def action_cancel(self) -> None:
        """Close without an answer."""
        self.dismiss(None)

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with an answer, as soon as no other dialog stands above; one that is gone stays so."""
        self._answers = (result,)
        self._close()
        return AwaitComplete()

    @on(ScreenResume)
    def _close(self) -> None:
        if self._answers and self.is_active:  # Textual would dismiss the top dialog instead
            super().dismiss(*self._answers)
            self.workers.cancel_node(self)  # they would use widgets that go one after the other

    def action_move(self, lines: int) -> None:
        """Scroll the body by lines."""
        self._body.action_move(lines)

    def action_page(self, pages: float) -> None:
        """Scroll the body by pages."""
        self._body.action_page(pages)

    def action_first(self) -> None:
        """Scroll to the top of the body."""
        self._body.action_first()

    def action_last(self) -> None:
        """Scroll to the end of the body."""
        self._body.action_last()


def now(what: Now[V]) -> V:
    """Return what is to be shown, as it is now."""
    return what() if callable(what) else what


def ask(app: Deck, dialog: Dialog[Result], then: Callable[[Result], Any]) -> AwaitMount:
    """Open a dialog; once it has an answer, `then` is called with it."""
    return app.push_screen(dialog, lambda answer: then(answer) if answer is not None else None)
