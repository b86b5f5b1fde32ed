"""What a save will do, to be agreed to: losses first, each change from old to new, the request on demand."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.settings.review import Act, Line, Review
from quarterdeck.settings.save import Request
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown

LABEL_WIDTH = 24
BLANK: Cell = ()
NO_REQUEST = Shown("None: this concerns only what this machine keeps.")
_TONES = {Act.UNSET: Tone.WARN, Act.REMOVED: Tone.WARN}
_BY_ITSELF = {Act.ADDED: "added", Act.REMOVED: "deleted"}


def review_lines(review: Review, *, why: str) -> Iterator[Cell]:
    """All lines of a review."""
    if why:
        yield cell(text.line(why), Tone.WARN)
        yield cell(Shown("This is what a save does now."), Tone.WARN)
        yield BLANK
    if review.losses:
        yield cell(Shown("This save also loses"), Tone.BAD)
        yield from (cell(Shown(f"! {loss.words}"), Tone.BAD) for loss in review.losses)
        yield BLANK
    for line in review.lines:
        yield from change_lines(line)
    if review.warnings:
        yield BLANK
    for problem in review.warnings:
        yield cell(text.line(f"· {review.fields.by_key[problem.key].label}: {problem.words}"), Tone.WARN)


def change_lines(line: Line) -> Iterator[Cell]:
    """One change as `label  old → new`, and why it may do nothing."""
    label = (text.line(line.label).ljust(LABEL_WIDTH - 1) + " ", Tone.STRONG)
    tone = _TONES.get(line.act, Tone.EDITED)
    if line.act in _BY_ITSELF:
        yield ((Shown(label[0]), label[1]), (Shown(_BY_ITSELF[line.act]), tone))
        details = line.new if line.act is Act.ADDED else ""
        if details:
            yield cell(Shown(" " * LABEL_WIDTH + text.line(details)), Tone.MUTED)
    else:
        old: Cell = ((text.line(line.old), Tone.MUTED), (Shown(" → "), Tone.MUTED)) if line.old else ()
        yield ((Shown(label[0]), label[1]), *old, (text.line(line.new), tone))
    if line.place:
        yield cell(Shown(" " * LABEL_WIDTH + text.line(line.place)), Tone.MUTED)
    if line.note:
        yield cell(Shown(" " * LABEL_WIDTH + text.line(line.note)), Tone.REST)


class ReviewDialog(Dialog[bool]):
    """Ask whether to send."""

    CSS_PATH = ["dialog.tcss", "settings_dialogs.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,ctrl+s", "agree", "Save", show=False),
        Binding("n", "cancel", "Back", show=False),
        Binding("r", "request", "Request", show=False),
        Binding("j,down", "scroll(1)", "Down", show=False),
        Binding("k,up", "scroll(-1)", "Up", show=False),
        Binding("pagedown,space", "scroll(10)", "Page down", show=False),
        Binding("pageup", "scroll(-10)", "Page up", show=False),
    ]

    HINTS = (("enter", "save"), ("esc", "go on editing"), ("r", "show the request"))

    def __init__(self, review: Review, request: Request | None, *, why: str, preface: Sequence[Cell] = ()) -> None:
        super().__init__(Shown("Review the changes"))
        self._preface = tuple(preface)
        self._review = review
        self._request = request
        self._why = why

    def body(self) -> Iterable[Widget]:
        """The changes, and room for the request."""
        preface = (*self._preface, BLANK) if self._preface else ()
        yield Static(lines((*preface, *review_lines(self._review, why=self._why))), id="changes")
        request = Static(id="request")
        request.display = False
        yield request

    def action_agree(self) -> None:
        """Go on with the save."""
        self.dismiss(result=True)

    def action_request(self) -> None:
        """Show the request as a shell command, or hide it; keys and secrets are variables in it."""
        request = self.query_one("#request", Static)
        if not request.display:
            said = text.block(self._request.curl()) if self._request is not None else NO_REQUEST
            request.update(lines([BLANK, cell(Shown("The request"), Tone.STRONG), cell(said, Tone.MUTED)]))
        request.display = not request.display
        self.set_class(request.display, "-full")
        if request.display:
            self.call_after_refresh(request.scroll_visible, animate=False, top=True)

    def action_scroll(self, step: int) -> None:
        """Scroll by lines."""
        self.query_one("#body").scroll_relative(y=step, animate=False)


class LosingReviewDialog(ReviewDialog):
    """Ask whether to send although something is lost by it: enter does not do."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "lose", "Save and lose it", show=False)]
    HINTS = (("y", "save and lose it"), ("esc", "go on editing"), ("r", "show the request"))
    REFUSED: ClassVar[Shown] = Shown("Something would be lost: y saves all the same, esc goes on editing.")

    def action_agree(self) -> None:
        """Not by a key pressed out of habit."""
        self.complain(self.REFUSED)

    def action_lose(self) -> None:
        """Go on with the save."""
        self.dismiss(result=True)


class UndoReviewDialog(ReviewDialog):
    """Ask whether to take a save back."""

    HINTS = (("enter", "take it back"), ("esc", "leave all as it is"), ("r", "show the request"))


class LosingUndoReviewDialog(LosingReviewDialog):
    """Ask whether to take a save back although something is lost by it."""

    HINTS = (("y", "take it back and lose it"), ("esc", "leave all as it is"), ("r", "show the request"))
    REFUSED = Shown("Something would be lost: y takes it back all the same, esc leaves all as it is.")


def review_dialog(review: Review, request: Request | None, *, why: str, preface: Sequence[Cell] = ()) -> ReviewDialog:
    """The dialog for a review; without a request nothing is sent. A `preface` above it says which save is undone."""
    if preface:
        dialog: type[ReviewDialog] = LosingUndoReviewDialog if review.losses else UndoReviewDialog
    else:
        dialog = LosingReviewDialog if review.losses else ReviewDialog
    return dialog(review, request, why=why, preface=preface)
