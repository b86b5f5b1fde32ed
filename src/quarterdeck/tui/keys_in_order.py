"""Keys, pastes and clicks, each answered before the next is looked at.

Several keys often come at once, over SSH nearly always. Textual only hands a key on to what has the focus, and looks at
the next one before the first was answered, so that a key behind one that opens a dialog would be a command to what is
below it.
"""

import asyncio
from contextlib import suppress

from textual import events
from textual.app import ScreenStackError
from textual.await_complete import AwaitComplete
from textual.dom import DOMNode
from textual.errors import NoWidget
from textual.widget import Widget

from quarterdeck.tui.crash import CrashSafe

PATIENCE = 2.0
"""Seconds after which a key is looked at although a widget is still busy with the one before it."""
Typed = events.Key | events.Paste | events.MouseDown | events.MouseUp


class KeysInOrder(CrashSafe):
    """An app that answers a key when all that it led to has been taken in, from the focus up to the screen."""

    _clicked: Widget | None = None
    """What the last click went to."""
    _popped: AwaitComplete | None = None
    """The last dialog that was answered, until it is gone: a worker that waited for its answer goes on behind it."""
    _held: list[Typed] | None = None
    """What was typed while there was nothing yet that could answer it."""
    _holding = False
    _last: events.Event | None = None
    """What was answered last."""

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; keys, pastes and clicks strictly one at a time."""
        if isinstance(event, Typed) and not event.is_forwarded:
            if self.return_code is not None:  # the deck is ending: no key is answered any more
                return
            if self._held is not None and not self._is_urgent(event):
                if not (self._holding and isinstance(event, events.MouseEvent)):  # nothing is there to click on yet
                    self._held.append(event)
                return
            await self.all_taken()
            self.call_next(self._answer, event)  # behind what a dialog that was just answered has called for
        elif not isinstance(event, events.Key) or event is self._last:  # else what it was for may be gone
            await super().on_event(event)

    def hold_keys(self) -> None:
        """Keep what is typed from now on, but for keys with priority, until somebody can answer it."""
        self._held, self._holding = self._held or [], True

    def release_keys(self) -> None:
        """Answer what was kept in its order, and from then on what comes."""
        if self._holding:
            self._holding = False
            self.call_later(self._answer_held)

    async def _answer_held(self) -> None:
        await self.all_taken()
        if self._held:
            if not self._holding:  # else what was just answered opened something that is not there yet
                self.call_next(self._answer, self._held.pop(0))
                self.call_later(self._answer_held)
        elif not self._holding:
            self._held = None

    def _is_urgent(self, event: Typed) -> bool:
        bound = self.active_bindings.get(event.key) if isinstance(event, events.Key) else None
        return bound is not None and bound.binding.priority

    def pop_screen(self) -> AwaitComplete:
        """Take the screen on top away."""
        self._popped = super().pop_screen()
        return self._popped

    async def all_taken(self) -> None:
        """Wait until nothing that was typed is still on its way; a dialog that was opened stands by then."""
        with suppress(TimeoutError, ScreenStackError):
            async with asyncio.timeout(PATIENCE):
                at: DOMNode | None = None
                while at is not (at := self.focused or self.screen):
                    for node in (
                        *(self._clicked.ancestors_with_self if self._clicked else ()),
                        *at.ancestors_with_self,
                    ):
                        taken = asyncio.Event()
                        if node is not self and node.call_later(taken.set):
                            await taken.wait()
                    if self._popped is not None:
                        await self._popped
                        self._popped = at = None
                    self._clicked = None

    async def _answer(self, event: Typed) -> None:
        if not self.screen_stack or self.return_code is not None:  # the deck is ending
            return
        self._last = event
        if isinstance(event, events.MouseEvent):
            with suppress(NoWidget):
                self._clicked = self.screen.get_widget_at(event.x, event.y)[0]
        if not isinstance(event, events.Key) or not await self._run_bound(event):
            await super().on_event(event)

    async def _run_bound(self, event: events.Key) -> bool:
        """Run what a key is bound to; Textual would do so only after it has looked at the keys behind it."""
        bound = self.screen.active_bindings.get(event.key)
        if bound is None or bound.binding.priority:
            return False
        for node in (self.focused or self.screen).ancestors_with_self:
            if node.check_consume_key(event.key, event.character):
                return False
            if node is bound.node:
                break
        return bound.enabled and await self.run_action(bound.binding.action, bound.node)
