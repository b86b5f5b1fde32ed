"""The text field for messages, several lines high; unsent text is kept as a draft."""

import asyncio

from textual import on
from textual.reactive import var
from textual.widgets import TextArea

from quarterdeck.tui import text
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.conversation.drafts import Drafts
from quarterdeck.tui.widgets.inputs import PlainArea

KEPT_AFTER = 0.2
"""Seconds until a draft is stored after the first key that changed it, so that a disk is not written to for each."""
HOW_TO_WRITE = "m writes a message"


class Composer(PlainArea):
    """A few lines of text below the log."""

    DEFAULT_CSS = """
    Composer {
        height: auto; min-height: 1; max-height: 8; padding: 0 1; border: none; border-top: solid $edge;
        &:focus { border: none; border-top: solid $tone-key; }
    }
    """
    BINDINGS = bindings({"ctrl+s": "screen.send"}, priority=True)

    writable: var[bool] = var(default=True)
    """Whether a message may be written here."""

    def __init__(self, conversation_id: str, drafts: Drafts) -> None:
        super().__init__()
        self.id = "composer"
        self.compact = False  # otherwise it has no line above it
        self.placeholder = HOW_TO_WRITE
        self.conversation_id = conversation_id
        self.drafts = drafts
        self._put_before = ""
        """What stands first in the text because it was not sent."""
        self._changed = asyncio.Event()
        """Set while it has what is not stored yet."""
        self._recalled = False
        """Whether it has what was kept."""

    def on_mount(self) -> None:
        """Restore the draft, and store it from then on."""
        self.run_worker(self._recall(), group="draft")
        self.run_worker(self._keep_changes(), group="draft")

    @on(TextArea.Changed)
    def _keep_soon(self) -> None:
        self._entitle()
        self._changed.set()

    async def _keep_changes(self) -> None:
        while True:
            await self._changed.wait()
            await asyncio.sleep(KEPT_AFTER)
            self._changed.clear()
            await self.keep()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Hide the hint while focused, because its key would only type a letter here."""
        super().watch_has_focus(has_focus)
        self.placeholder = "" if has_focus else HOW_TO_WRITE
        self._entitle()

    def _entitle(self) -> None:
        perhaps_sent = self.drafts.of(self.conversation_id).perhaps_sent
        if any(each.conversation == self.conversation_id for each in self.drafts.sending):
            self.border_title = " a message is being sent "
        elif perhaps_sent and all(part in self.text for part in perhaps_sent):
            self.border_title = " perhaps sent before: look above "
        else:
            goes_on = "; m goes on with it" if self.writable else ""
            self.border_title = f" a draft{goes_on} " if self.text.strip() and not self.has_focus else ""

    watch_writable = _entitle

    async def on_unmount(self) -> None:
        """Give the draft to whoever opens the conversation next."""
        self._note()
        await self.drafts.close(self.conversation_id, "" if self._recalled else self.text)

    async def keep(self) -> None:
        """Store the draft, or that there is none."""
        self._note()
        self._entitle()
        await self.drafts.keep()

    def _note(self) -> None:
        if self._recalled:
            self.drafts.typed(self.conversation_id, self.text)

    async def _recall(self) -> None:
        await self.drafts.open(self.conversation_id)
        if kept := self.drafts.of(self.conversation_id).text:
            self.put_before(kept)
        self._recalled = True

    def put_before(self, words: str) -> None:
        """Insert words before what has been typed, and after those that were put there last."""
        words, first = text.editable(words), self._put_before
        if first and f"{self.text}\n".startswith(f"{first}\n"):
            *above, last = first.split("\n")
            self.insert(f"\n{words}", (len(above), len(last)))
            self._put_before = f"{first}\n{words}"
        else:
            self.insert(words + ("\n" if self.text else ""), (0, 0))
            self._put_before = words

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Keep the enter key from the screen's commands: here it starts a new line."""
        return key == "enter" or super().check_consume_key(key, character)
