"""The text field for messages, several lines high; unsent text is kept as a draft."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widgets import TextArea

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.widgets.inputs import PlainArea

KEPT_AFTER = 0.5
"""Seconds after a key until a draft is stored."""
HOW_TO_WRITE = "m writes a message"


class MessageDrafts(KeptModel):
    """Messages that were written and not sent, by conversation."""

    kind: ClassVar[str] = "message-drafts"
    texts: Mapping[str, str] = {}
    unanswered: Mapping[str, str] = {}
    """The part of a text that was being sent when the deck was left."""


async def drop_draft(app: Deck, session: Session, conversation_id: str) -> None:
    """Drop the draft for a conversation that was deleted here, if the server does not have it any more."""
    about = app.endpoint.about
    with suppress(ServiceError):
        kept = await app.state.read(MessageDrafts, about)
        if kept is None or conversation_id not in kept.texts:
            return
        if await session.client.conversations.find(conversation_id) is None:
            await app.state.change(MessageDrafts, about, partial(_with, conversation_id=conversation_id))


def _with(kept: MessageDrafts | None, conversation_id: str, draft: str = "", unanswered: str = "") -> MessageDrafts:
    """Return the drafts with another one for a conversation, or without one if it is blank."""
    kept = kept or MessageDrafts()
    return MessageDrafts(
        texts=_not_blank({**kept.texts, conversation_id: draft}),
        unanswered=_not_blank({**kept.unanswered, conversation_id: unanswered}),
    )


def _not_blank(texts: Mapping[str, str]) -> Mapping[str, str]:
    return {each: words for each, words in texts.items() if words.strip()}


class Composer(PlainArea):
    """A few lines of text below the log."""

    DEFAULT_CSS = """
    Composer {
        height: auto; min-height: 1; max-height: 8; padding: 0 1; border: none; border-top: solid $edge;
        &:focus { border: none; border-top: solid $tone-key; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "screen.send", "Send", show=False, priority=True)]

    app = getters.app(Deck)

    def __init__(self, conversation_id: str) -> None:
        super().__init__()
        self.id = "composer"
        self.compact = False  # otherwise it has no line above it
        self.placeholder = HOW_TO_WRITE
        self.sending = ""
        """Text that is being sent; it is kept like a draft until it was sent."""
        self._unanswered = ""
        """Text that was being sent when the deck was left."""
        self._conversation_id = conversation_id
        self._keeping: Timer | None = None

    def on_mount(self) -> None:
        """Restore the draft."""
        self.run_worker(self._recall(), group="draft")

    @property
    def unsaved(self) -> bool:
        """Whether the draft is not stored yet."""
        return self._keeping is not None

    @on(TextArea.Changed)
    def _keep_soon(self) -> None:
        self._entitle()
        if self._keeping is not None:
            self._keeping.stop()
        self._keeping = self.set_timer(KEPT_AFTER, self.keep)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Hide the hint while focused, because its key would only type a letter here."""
        super().watch_has_focus(has_focus)
        self.placeholder = "" if has_focus else HOW_TO_WRITE
        self._entitle()

    def _entitle(self) -> None:
        if self._unanswered and self._unanswered in self.text:
            self.border_title = "perhaps sent when you left: look above"
        else:
            self.border_title = "a draft, not sent" if self.text.strip() and not self.has_focus else ""

    def on_unmount(self) -> None:
        """Store what was typed last."""
        if self.unsaved:
            self.app.run_worker(self.keep(), group="drafts")

    async def keep(self) -> None:
        """Store the draft, or that there is none."""
        self._keeping = None
        draft = "\n".join(filter(None, (self.sending, self.text)))
        unanswered = self.sending or (self._unanswered if self._unanswered in self.text else "")
        try:
            change = partial(_with, conversation_id=self._conversation_id, draft=draft, unanswered=unanswered)
            await self.app.state.change(MessageDrafts, self.app.endpoint.about, change)
        except ServiceError as error:
            self.app.say_on_top(text.line(f"The draft is not kept: {error.words}"))

    async def _recall(self) -> None:
        try:
            kept = await self.app.state.read(MessageDrafts, self.app.endpoint.about)
        except ServiceError as error:
            self.app.say_on_top(text.line(f"Drafts cannot be read: {error.words}"))
            return
        if kept is not None and self._conversation_id in kept.texts:
            self._unanswered = kept.unanswered.get(self._conversation_id, "")
            self.put_before(kept.texts[self._conversation_id])

    def put_before(self, words: str) -> None:
        """Insert words before what has been typed."""
        self.insert(text.editable(words) + ("\n" if self.text else ""), (0, 0))

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Keep the enter key from the screen's commands: here it starts a new line."""
        return key == "enter" or super().check_consume_key(key, character)
