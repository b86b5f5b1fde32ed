"""Keys, pastes and clicks, taken in one at a time: each goes to what the one before it opened.

Several keys often come at once, over SSH nearly always. Textual gives each to what has the focus at that moment, so
that a key behind one that opens a dialog would be a command to what is below it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from textual import events
from textual.app import ScreenStackError
from textual.dom import DOMNode
from textual.screen import Screen

from quarterdeck.tui.crash import CrashSafe

STILL = 5
"""Looks without a change until a key has come to rest: a worker that it started has begun by then, and one that goes
on with the answer of a dialog has opened the next."""
HURRIED = 100
"""Looks, one every turn of the event loop, before there is a pause between two."""
PAUSE = 0.005
"""Seconds of that pause."""
PATIENT = HURRIED + 400
"""Looks after which the next key is taken in although this one has not come to rest: two seconds, and more where the
event loop stood still."""
STUCK = HURRIED + 150
"""Looks after which an urgent key does not wait any longer."""
GIVES_WAY = 0.25
"""Seconds for which what can wait lets keys go first: one that is held down may never let go."""
URGENT = frozenset({"ctrl+q", "ctrl+c"})
MOVES = frozenset(
    ("down", "up", "j", "k", "pagedown", "pageup", "ctrl+d", "ctrl+u", "left", "right", "backspace", "delete")
)
"""Keys that are held down: where one has changed neither screen nor focus, the next of its kind need not wait for it,
and a screen that is slow to paint is painted once for many."""
Input = events.Key | events.Paste | events.MouseDown | events.MouseUp


class OneAtATime(CrashSafe):
    """An app that takes in a key when the one before it has come to rest.

    That is when neither the app nor anything from the focus up to it has a message left, nothing is being opened, and
    screen and focus stay as they are.
    """

    OPENS_WITHIN = 0.5
    """Seconds that a key waits for what opens late, unless that asks for more."""

    def __init__(self) -> None:
        super().__init__()
        self._typed_ahead: deque[Input] = deque()
        self._at_work = False
        self._rested = asyncio.Event()
        self._openings: dict[object, Screen[Any]] = {}
        """What opens late, with the screen it was begun on."""
        self._stood: list[DOMNode] = []
        """The way of a key at the last look, from the focus up to the app."""
        self._looks = 0
        self._still = 0
        self._key = ""
        """The last that was taken in, if it was a key."""
        self._went_to: DOMNode | None = None
        """What had the keyboard then."""
        self._repeated = ""
        """The key that may go on without a rest."""

    async def on_event(self, event: events.Event) -> None:
        """Take in an event; of those that a person makes only one at a time."""
        if not isinstance(event, Input) or event.is_forwarded:
            await super().on_event(event)
        elif not self._at_work or (not self._typed_ahead and self._repeats(event)):
            await self._take(event)
        elif isinstance(event, events.Key) and event.key in URGENT and self._is_held:
            self._typed_ahead.clear()
            await self._take(event)
        else:
            self._typed_ahead.append(event)

    async def at_rest(self) -> None:
        """Wait until no key is being answered, but not for long; for work behind the screen."""
        if self._at_work:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._rested.wait(), GIVES_WAY)

    @contextmanager
    def opening(self, within: float | None = None) -> Iterator[None]:
        """Have the next key wait for what is awaited in here, until another screen stands, and not for long.

        For what needs an answer, a file or a widget before a dialog or a field can take the keyboard; `within` is in
        seconds.
        """
        opening = object()
        self._openings[opening] = self.screen
        late = asyncio.get_running_loop().call_later(within or self.OPENS_WITHIN, self._openings.pop, opening, None)
        try:
            yield
        finally:
            late.cancel()
            self._openings.pop(opening, None)

    @property
    def _is_held(self) -> bool:
        return bool(self._openings) or self._looks > STUCK

    async def _take(self, event: Input) -> None:
        if not self._repeats(event):
            self._repeated = ""
        self._looks = 0
        self._key, self._went_to = event.key if isinstance(event, events.Key) else "", self._keyboard
        await super().on_event(event)
        if not self._at_work:
            self._at_work = True
            self._rested.clear()
            self._look_soon()

    @property
    def _keyboard(self) -> DOMNode:
        """What has the keyboard."""
        return self.focused or self.screen

    def _repeats(self, event: Input) -> bool:
        return isinstance(event, events.Key) and event.key == self._repeated and self._went_to is self._keyboard

    # Coming to rest

    def _look_soon(self) -> None:
        loop = asyncio.get_running_loop()
        if self._looks < HURRIED:
            loop.call_soon(self._look)
        else:
            loop.call_later(PAUSE, self._look)

    def _look(self) -> None:
        if self._looks < HURRIED or not self._openings:  # what opens late has a bound of its own
            self._looks += 1
        self._still = self._still + 1 if self._stands() else 0
        if self._still < STILL and self._looks < PATIENT:
            self._look_soon()
        else:
            self.call_later(self._look_from_inside)

    async def _look_from_inside(self) -> None:
        """Take in the next key, unless the app itself had something left to do."""
        if not self._stands() and self._looks < PATIENT:
            self._look_soon()
            return
        self._at_work = False
        if self._key in MOVES and self._went_to is self._keyboard:
            self._repeated = self._key
        while self._typed_ahead and (not self._at_work or self._repeats(self._typed_ahead[0])):
            await self._take(self._typed_ahead.popleft())
        if not self._at_work:
            self._rested.set()

    def _stands(self) -> bool:
        """Whether nothing is under way where a key would go, and all is as it was at the last look."""
        try:
            screen = self.screen
        except ScreenStackError:  # the deck is ending
            return True
        stood, self._stood = self._stood, (self.focused or screen).ancestors_with_self
        for opening in [opening for opening, begun_on in self._openings.items() if begun_on is not screen]:
            del self._openings[opening]
        return not self._openings and self._stood == stood and not any(node.message_queue_size for node in stood)
