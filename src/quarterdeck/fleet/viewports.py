"""What is looked at in each list, which decides what of it is read and how often."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.news import About
from quarterdeck.fleet.sandboxes import ConversationsBySandbox
from quarterdeck.fleet.unread import Unread
from quarterdeck.fleet.watch import Viewport


@dataclass
class Viewports:
    """The list that is on the screen, and the rows of both lists that are read more often than the rest."""

    memories: SandboxMemories
    by_sandbox: ConversationsBySandbox
    unread: Unread
    clock: Callable[[], datetime]
    shown: tuple[About, tuple[str, ...]] = About.SERVER, ()
    """The list on the screen, and its visible ids."""
    hidden: bool = False
    """Whether the terminal is hidden."""
    starting: frozenset[str] = frozenset()
    """The start tasks that, when last read, could still end soon."""
    unsettled: dict[str, bool] = field(default_factory=dict)
    """Sandboxes that changed, until their conversations were read twice since.

    The first reading, once it has come (true), may have begun before the change."""

    def changed(self, sandbox_ids: Iterable[str]) -> None:
        """Note that sandboxes changed."""
        self.unsettled |= dict.fromkeys(sandbox_ids, False)

    def read(self, sandbox_ids: Iterable[str]) -> frozenset[str]:
        """Note that conversations in these sandboxes were read; returns those that are settled by that."""
        read = self.unsettled.keys() & set(sandbox_ids)
        settled = frozenset(each for each in read if self.unsettled[each])
        self.unsettled |= dict.fromkeys(read, True)
        for each in settled:
            del self.unsettled[each]
        return settled

    def seen(self, about: About) -> tuple[str, ...]:
        """Return the visible ids of a list."""
        return self.shown[1] if self.shown[0] is about else ()

    def of_sandboxes(self) -> Viewport:
        """Return what is looked at in the list of sandboxes."""
        moving = self.memories.transitional(self.clock())
        return Viewport(self.seen(About.SANDBOXES), moving, hidden=self._hides(About.SANDBOXES))

    def of_conversations(self) -> Viewport:
        """Return the same for the conversations: those in an unsettled sandbox that is in sight, and watched ones."""
        seen, watched = self.seen(About.CONVERSATIONS), tuple(self.unread.watched)
        unsettled = self.unsettled.keys() | self.memories.transitional(self.clock())
        transitional = [each for each in seen if self.by_sandbox.sandbox_of(each) in unsettled]
        transitional += self.by_sandbox.ids_in(unsettled.intersection(self.seen(About.SANDBOXES)))
        visible = watched if self.hidden else (*seen, *watched)
        return Viewport(visible, transitional, hidden=self._hides(About.CONVERSATIONS) and not watched)

    def of_start_tasks(self) -> Viewport:
        """Return the same for the start tasks, of which no list is on the screen."""
        return Viewport(transitional=self.starting, hidden=True)

    def _hides(self, about: About) -> bool:
        return self.hidden or about is not self.shown[0]
