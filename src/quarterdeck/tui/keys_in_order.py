"""Keys, pastes and clicks, each handled completely before the next one.

Several keys often arrive at once, over SSH nearly always. Textual only passes a key on to the focused widget and takes
the next one before the first is handled, so that the key after one that opens a dialog would act on the screen below
it.
"""

import asyncio
from contextlib import suppress

from textual import events
from textual.app import ScreenStackError
from textual.await_complete import AwaitComplete
from textual.dom import DOMNode
from textual.errors import NoWidget
from textual.reactive import var
from textual.widget import Widget

from quarterdeck.tui.crash import CrashSafe

PATIENCE = 2.0
"""Seconds after which a key is handled although a widget is still busy with the previous one."""
Typed = events.Key | events.Paste | events.MouseDown | events.MouseUp


class KeysInOrder(CrashSafe):
    """An app that handles a key only after all effects of the previous one, from the focus up to the screen."""

    terminal_focus = var(default=True)
    """Whether the terminal has the focus; a key tells that it has, too, because not every terminal does."""
    _clicked: Widget | None = None
    """The widget that received the last click."""
    _popped: AwaitComplete | None = None
    """The last dialog that was dismissed, until it is gone; a worker that awaited its result continues after it."""
    _held: list[Typed] | None = None
    """Input that arrived before anything could handle it."""
    _holding = False
    _last: events.Event | None = None
    """The event that was handled last."""
    _settled: DOMNode | None = None
    """What had the focus when all effects of that event were handled; None until then."""
    _settling: asyncio.Task[None] | None = None

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; keys, pastes and clicks strictly one at a time."""
        if isinstance(event, Typed) and not event.is_forwarded:
            if self.return_code is not None:  # the deck is ending: keys are no longer handled
                return
            self.terminal_focus = True
            if self._held is not None and not self._is_urgent(event):
                if not (self._holding and isinstance(event, events.MouseEvent)):  # there is nothing to click on yet
                    self._held.append(event)
                return
            if self._settled is None or self._settled is not (self.focused or self.screen):
                await self.input_handled()
            self.call_next(self._answer, event)  # after the callbacks of a dialog that was just dismissed
        elif not isinstance(event, events.Key) or event is self._last:  # its target may be gone
            await super().on_event(event)

    def on_app_blur(self, event: events.AppBlur) -> None:
        """Leave the focus where it is: Textual would take it, give none to a new screen, and a letter be a command."""
        event.prevent_default()
        self.terminal_focus = False

    def on_app_focus(self) -> None:
        """Note that the terminal has the focus again."""
        self.terminal_focus = True

    def hold_keys(self) -> None:
        """Keep input from now on, except keys with priority for the app, until something can handle it."""
        self._held, self._holding = self._held or [], True

    def release_keys(self) -> None:
        """Handle the kept input in its order, and then handle input as it arrives."""
        if self._holding:
            self._holding = False
            self.call_later(self._answer_held)

    async def _answer_held(self) -> None:
        await self.input_handled()
        if self._held:
            if not self._holding:  # otherwise the last key opened something that is not ready yet
                self.call_next(self._answer, self._held.pop(0))
                self.call_later(self._answer_held)
        elif not self._holding:
            self._held = None

    def _is_urgent(self, event: Typed) -> bool:
        bound = self.active_bindings.get(event.key) if isinstance(event, events.Key) else None
        return bound is not None and bound.binding.priority and bound.node is self

    def pop_screen(self) -> AwaitComplete:
        """Remove the top screen."""
        self._popped = super().pop_screen()
        return self._popped

    async def input_handled(self) -> None:
        """Wait until all earlier input has been handled; a dialog that it opened is mounted by then."""
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
                        await asyncio.shield(self._popped)  # a key that does not wait longer must not end it
                        self._popped = at = None
                    self._clicked = None
                self._settled = at

    async def _answer(self, event: Typed) -> None:
        if not self.screen_stack or self.return_code is not None:  # the deck is ending
            return
        self._last = event
        clicked: Widget | None = None
        if isinstance(event, events.MouseEvent):
            with suppress(NoWidget):
                clicked = self.screen.get_widget_at(event.x, event.y)[0]
        if not isinstance(event, events.Key) or not await self._run_bound(event):
            await super().on_event(event)
        if self._settling is not None:
            self._settling.cancel()  # it would take the effects of this event as over with those of an earlier one
        self._clicked, self._settled = clicked, None
        if self.return_code is None:
            self.screen.call_after_refresh(self._settle)

    def _settle(self) -> None:
        """Wait for the effects of a key as soon as it is painted, so that the next one need not wait for them."""
        self._settling = asyncio.create_task(self.input_handled())

    async def _run_bound(self, event: events.Key) -> bool:
        """Run the binding of a key; Textual would run it only after taking the keys that follow."""
        bound = self.screen.active_bindings.get(event.key)
        if bound is None or bound.binding.priority:
            return False
        for node in (self.focused or self.screen).ancestors_with_self:
            if node.check_consume_key(event.key, event.character):
                return False
            if node is bound.node:
                break
        return bound.enabled and await self.run_action(bound.binding.action, bound.node)
