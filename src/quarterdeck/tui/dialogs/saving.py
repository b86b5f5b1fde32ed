"""The dialogs of a save: which of two changes to keep, and whether to send the reviewed changes, losses first."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.client.settings import PreparedRequest
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP
from quarterdeck.settings.fields import Field
from quarterdeck.settings.mcp import EntryState
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import UNSET, Review, ReviewLine
from quarterdeck.settings.words import differences
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.dialogs.base import SCROLL, Dialog
from quarterdeck.tui.dialogs.pick import PickDialog, choice
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown

# Conflicts with changes made elsewhere


def conflict_dialog(conflict: Conflict, entry: Field) -> PickDialog[Side]:
    """Return the dialog that asks which of two changes of the same thing to keep."""
    if conflict.key == MCP:
        label, was = words.server_title(conflict.mine or conflict.theirs or conflict.base), ""
        mine, theirs = (_server_words(conflict, server) for server in (conflict.mine, conflict.theirs))
    else:
        label, was = entry.label, f"was {words.known_words(entry, conflict.base)}"
        mine, theirs = words.edited_words(entry, conflict.mine), words.known_words(entry, conflict.theirs)
    said = (
        cell("It was changed elsewhere since you loaded it. Which value is to be kept?", Tone.MUTED),
        ((text.line(label), Tone.STRONG), (Shown("  "), Tone.PLAIN), (text.line(was), Tone.MUTED)),
    )
    choices = [choice(Side.MINE, "m", "Mine", mine), choice(Side.THEIRS, "t", "Theirs", theirs)]
    return PickDialog("Changed here and elsewhere", choices, said=said, leave="go on editing")


def _server_words(conflict: Conflict, server: Any) -> str:
    if server is None:
        return "gone from the server" if conflict.base is not None else "not there"
    if conflict.base is None:
        return words.server_details(server) or f"key: {words.key_words(server)}"
    return ", ".join(differences(conflict.base, server)[1]) or "as it was"


# The review

LABEL_WIDTH = 24
LOSS, WARNING = Shown("! "), Shown("· ")
"""The marks before what a save loses and what else is to be known of it."""
NO_REQUEST = Shown("None: this concerns only what this machine keeps.")
_TONES: Mapping[str, Tone] = {UNSET: Tone.WARN, EntryState.REMOVED: Tone.WARN}
_BY_ITSELF: Mapping[str, str] = {EntryState.ADDED: "added", EntryState.REMOVED: "deleted"}


class ReviewDialog(Dialog[bool]):
    """Asks whether to send. It opens before the review is ready, and accepts no yes until then."""

    BINDINGS = bindings({"enter": "agree", "y": "agree_anyway", "n": "cancel", "r": "request"})

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._review: Review | None = None
        self._request: PreparedRequest | None = None
        self._why_not_enter = ""
        """Why enter is not enough to agree, so that one that is held down does not; empty if it is."""
        self.answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Whether to send; escape means no."""

    def body(self) -> Iterable[Widget]:
        """Places for the changes and for the request."""
        yield from super().body()
        yield Static(id="request")

    @property
    def waits(self) -> bool:
        """Whether there is no review yet."""
        return self._review is None

    @property
    def cancelled(self) -> bool:
        """Whether the person went back before there was a review."""
        return self.waits and self.answer.done()

    def tell(self, step: str) -> None:
        """Show what the review waits for."""
        if self.is_mounted and self.waits and not self.cancelled:
            self.say(step, Tone.BUSY)

    def show(self, review: Review, request: PreparedRequest | None, why: str, preface: Sequence[Cell] = ()) -> None:
        """Show the review below a preface; `why` says why it is asked again.

        Without a request, nothing is sent.
        """
        self._review, self._request = review, request
        above = (*preface, EMPTY) if preface else ()
        self.introduce((*above, *review_lines(review, why=why)))
        self._why_not_enter = "Something would be lost" if review.losses else "It is asked again" if why else ""
        yes = ("y" if self._why_not_enter else "enter", "save and lose it" if review.losses else "save")
        self.hint((yes, ("esc", "go back"), SCROLL, ("r", "show the request")))
        self.complain(None)

    def action_agree(self) -> None:
        """Continue with the save, unless this key is not enough."""
        if self._why_not_enter:
            self.complain(f"{self._why_not_enter}: y saves all the same, esc goes back.")
        elif self._review is not None:
            self._answer(yes=True)

    def action_agree_anyway(self) -> None:
        """Continue although something is lost, or it is asked again."""
        if self._why_not_enter:
            self._answer(yes=True)

    def action_cancel(self) -> None:
        """Go back."""
        self._answer(yes=False)

    def _answer(self, *, yes: bool) -> None:
        if not self.answer.done():
            self.answer.set_result(yes)
        self.dismiss(yes)

    def action_request(self) -> None:
        """Show the request as a shell command, or hide it; keys and secrets are variables in it."""
        if self._review is None:
            return
        request = self.query_one("#request", Static)
        if not request.display:
            said = text.block(self._request.curl()) if self._request is not None else NO_REQUEST
            inside = ", sent inside this program: it listens on no port" if self.app.endpoint.embedded else ""
            request.update(lines([EMPTY, cell(f"The request{inside}", Tone.STRONG), ((said, Tone.MUTED),)]))
        request.display = not request.display
        self.set_class(request.display, "-full")
        self.hint((*self._hinted[:-1], ("r", f"{'hide' if request.display else 'show'} the request")))
        if request.display:
            self.call_after_refresh(request.scroll_visible, animate=False, top=True)


def review_lines(review: Review, *, why: str) -> Iterator[Cell]:
    """Yield all lines of a review."""
    if why:
        yield cell(why, Tone.WARN)
        yield cell("This is what a save will do now.", Tone.WARN)
        yield EMPTY
    if review.losses:
        yield cell("This save also loses", Tone.BAD)
        yield from (((LOSS, Tone.BAD), *cell(loss.words, Tone.BAD)) for loss in review.losses)
        if review.to_give_again:
            yield cell("What is typed again is kept.")
        yield EMPTY
    for line in review.lines:
        yield from _change_lines(line)
    if review.warnings:
        yield EMPTY
    yield from (((WARNING, Tone.WARN), *cell(warning, Tone.WARN)) for warning in review.warnings)


def _change_lines(line: ReviewLine) -> Iterator[Cell]:
    """Yield one change as `label  old → new`, and why it may have no effect."""
    indent, name = (Shown(" " * LABEL_WIDTH), Tone.PLAIN), text.line(line.label)
    label = (Shown(name + " " * (LABEL_WIDTH - cell_len(name))), Tone.STRONG)
    if cell_len(name) > LABEL_WIDTH - 2:
        yield ((name, Tone.STRONG),)
        label = indent
    tone = _TONES.get(line.act, Tone.EDITED)
    below = [(line.place, Tone.MUTED), (line.note, Tone.REST)]
    if line.act in _BY_ITSELF:
        yield (label, (Shown(_BY_ITSELF[line.act]), tone))
        below.insert(0, (line.new if line.act == EntryState.ADDED else "", Tone.MUTED))
    else:
        old: Cell = ((text.line(line.old), Tone.MUTED), (Shown(" → "), Tone.MUTED)) if line.old else ()
        yield (label, *old, (text.line(line.new), tone))
    for said, tone in below:
        if said:
            yield (indent, (text.line(said), tone))
