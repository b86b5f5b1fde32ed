"""Longer messages and dialogs of the settings: why nothing can be edited, how to leave, what differs after a save."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import ClassVar

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.settings import Settings
from quarterdeck.fleet.session import Session
from quarterdeck.settings.changes import Restored
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.kept import Saved
from quarterdeck.settings.verify import Difference
from quarterdeck.settings.words import counted, server_title
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell, indented
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.dialogs.pick import PickDialog, choice
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Hints
from quarterdeck.tui.widgets.form.rows import FormView


def why_nothing(session: Session | None, error: ServiceError | None) -> list[Cell]:
    """Return why there are no settings to edit, and what can be done."""
    if error is not None:
        refused = error.kind in (ErrorKind.AUTH, ErrorKind.DENIED)
        said = [cell(error.words, Tone.BAD), *([cell(error.advice)] if error.advice else ())]
        what_to_do = "c enters a key." if refused else "ctrl+r tries again, c chooses a server."
        return [*said, EMPTY, cell(what_to_do, Tone.MUTED)]
    if session is not None and session.server.key_refused:
        return [cell("The key is missing or not the right one.", Tone.BAD), EMPTY, cell("c enters a key.")]
    return [cell("Loading the settings…", Tone.BUSY)]


def edited(view: FormView, *, tried: bool) -> Cell:
    """Return `3 edited · 1 error`, or that everything is as stored; `tried` means that it is said how a save ended."""
    if not view.draft.edited:
        known = view.draft.base is not None
        return cell("As stored" if known else "No settings stored yet: defaults apply until you save", Tone.MUTED)
    count = (Shown(f"{view.draft.count:,} edited"), Tone.EDITED)
    if not view.errors:
        return (count,) if tried else (count, (Shown(" · not saved yet"), Tone.MUTED))
    return (count, (Shown(" · "), Tone.MUTED), (Shown(counted(len(view.errors), "error")), Tone.BAD))


class LeaveEditsDialog(PickDialog[str]):
    """Asks about edits when leaving, also during a save of them."""

    def save_ended(self, edits: int, outcome: Cell) -> None:
        """Say how the save has ended, and how many edits are left; leave if it went well and none is."""
        if not edits and outcome[-1][1] is Tone.GOOD:
            self.dismiss("d")
        self.introduce([cell(f"The save has ended, with {counted(edits, 'edit')} left:"), outcome])


def leave_edits_dialog(edits: int, why_not: str | None, *, saving: bool) -> LeaveEditsDialog:
    """Return the dialog for edits when leaving: k keeps, s saves, l leaves, d discards them.

    `why_not` says why they cannot be saved, if so; while a save has no response yet, saving again is not offered.
    """
    known = "whose save is not answered yet: it may still happen" if saving else "that the server does not know of"
    said = cell(f"You have {counted(edits, 'edit')} {known}.")
    save = choice("s", "s", "Save", why_not or "review and save them, then leave", works=why_not is None)
    choices = [
        choice("k", "k", "Keep editing", "stay here, nothing is sent"),
        *([] if saving else [save]),
        choice("l", "l", "Leave", "keep them here, but no secret, for Restore edits"),
        choice("d", "d", "Discard", "drop them and leave"),
    ]
    return LeaveEditsDialog("Unsaved settings", choices, said=[said], leave="keep editing")


class EditsDialog(Dialog[bool]):
    """Asks about edits; neither a letter nor enter answers, because it opens while somebody may type."""

    BINDINGS = bindings({"ctrl+y": "dismiss(True)", "ctrl+n": "dismiss(False)"})
    HINTS: ClassVar[Hints] = (("^y esc", "keep them"), ("^n", "drop them"))


class LeftEditsDialog(EditsDialog):
    """Asks about edits that were left behind; escape means later."""

    HINTS: ClassVar[Hints] = (("^y", "restore them"), ("esc", "later"), ("^n", "drop them"))


def left_edits_dialog(count: int, when: str) -> LeftEditsDialog:
    """Return the dialog that asks about edits of an earlier moment that are kept on this machine."""
    edits = f"{counted(count, 'edit')} from {when} {'is' if count == 1 else 'are'}"
    said = (
        cell(f"{edits} not stored, as far as can be read."),
        cell("Secrets that were typed are not kept: type them again.", Tone.MUTED),
        cell("ctrl+y makes them edits again, and nothing is sent; ctrl+n drops them for good.", Tone.MUTED),
    )
    return LeftEditsDialog("Edits left behind", said)


def whose_dialog(loaded: Settings | None, found: Settings | None, *, of_another: bool) -> EditsDialog:
    """Return the dialog that asks whether edits made on one record are meant for another one, or another server's."""
    was, now = (record.email if record is not None else None for record in (loaded, found))
    said = (
        cell(f"They were made on the settings of {'another server' if of_another else was or 'somebody'}."),
        cell(f"{'This one has' if of_another else 'This key reads'} those of {now or 'somebody else'}."),
        cell("ctrl+y keeps them as edits of these; ctrl+n drops them, and ctrl+z takes them back.", Tone.MUTED),
    )
    return EditsDialog("Are the edits meant for these settings?", said)


def difference_lines(differences: Iterable[Difference]) -> list[Cell]:
    """Return what was meant and what the server has, field by field."""
    said: list[Cell] = []
    for difference in differences:
        note = "" if difference.asked else "  (not changed by this save)"
        said.append(((text.line(difference.label), Tone.STRONG), (Shown(note), Tone.MUTED)))
        said.append(((Shown("  meant  "), Tone.MUTED), (text.line(difference.meant), Tone.PLAIN)))
        said.append(((Shown("  holds  "), Tone.MUTED), (text.line(difference.found), Tone.WARN)))
        if difference.note:
            said.append(indented(text.line(difference.note), Tone.MUTED))
    return said


def undo_lines(saved: Saved, undo: Restored, now: datetime) -> list[Cell]:
    """Return which save is undone, and which parts of it stay as they are."""
    does = "This takes back" if undo.draft.edited else "It is"
    takes_back = cell(f"{does} the save of {when(saved.when, now)}.", Tone.STRONG)
    return [takes_back, *(cell(said, Tone.WARN) for said in undo.not_undone)]


def restored_lines(restored: Restored, before: Draft) -> list[Cell]:
    """Return which restored edits differ from what they were, or replaced others; empty if none does."""
    now = restored.draft
    over = [
        before.field_at(key).label for key, edit in before.edits.items() if key != MCP and now.edits.get(key) != edit
    ]
    over += [server_title(each.server) for each in before.servers.edited if now.servers.entry(each.row) != each]
    gone, moved = "Not kept, as secret or wrong; type it again", "Changed on the server since, and edited here"
    return _named((gone, restored.left_out), (moved, restored.moved), ("Edited here already, and replaced", over))


def _named(*said: tuple[str, Sequence[str]]) -> list[Cell]:
    return [cell(f"{what}: {'; '.join(names)}.", Tone.WARN) for what, names in said if names]


def when(moment: datetime, now: datetime) -> str:
    """Format a moment: its time, and the date unless it is today."""
    moment, now = moment.astimezone(), now.astimezone()
    return f"{moment:%H:%M}" if moment.date() == now.date() else f"{moment:%d %b %Y, %H:%M}"
