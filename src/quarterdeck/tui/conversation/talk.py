"""Requests of a person to an agent: the questions asked before, what is sent, and the message about the result."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from textual import events

from quarterdeck.client.agent_server import ALWAYS, NEVER, RISKY
from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.answering import Answering
from quarterdeck.fleet.following import Following
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.dialogs.base import Dialog, ask
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.form import FormDialog, InputField, Typed
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Hints

Tell = Callable[[], Awaitable[str]]
"""Sends something to the agent and returns a sentence about the result; raises ServiceError."""


class WaitingDialog(Dialog[str]):
    """Asks what to do with a message to an agent that waits: `accept` or `reject` what it asks, and send this.

    No letter answers, because the person may still be typing: what is typed goes to `write` instead.
    """

    BINDINGS = bindings({"ctrl+n": "dismiss('reject')", "ctrl+y": "dismiss('accept')"})
    HINTS: ClassVar[Hints] = (("^n", "reject and say"), ("^y", "accept and say"), ("esc", "keep the draft"))

    def __init__(self, write: Callable[[str], object]) -> None:
        said = (
            cell(Shown("Reject and say: refuse what it asks, then send this.")),
            cell(Shown("Accept and say: send this, then let it do what it asks.")),
            cell(Shown("Keep the draft: send nothing now, and go on writing."), Tone.MUTED),
        )
        super().__init__(Shown("The agent waits for an answer"), said)
        self._write = write

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """No letter scrolls: it belongs to the message."""
        return character is not None and character.isprintable()

    def on_key(self, event: events.Key) -> None:
        """Go on with the message."""
        if event.is_printable or event.key == "enter":
            self._write("\n" if event.key == "enter" else event.character or "")
            self.dismiss(None)

    def on_paste(self, event: events.Paste) -> None:
        """Go on with the message."""
        self._write(text.editable(event.text))
        self.dismiss(None)


class Talk:
    """Talks to the agent for a screen; `changed` is called when there may be something to show."""

    def __init__(self, screen: DeckScreen, session: Session, following: Following, changed: Callable[[], None]) -> None:
        self._screen = screen
        self._session = session
        self._following = following
        self._changed = changed
        self.answering = Answering(following)
        self._asking: WaitingDialog | None = None
        """What was opened last about an agent that waits."""

    def submit(
        self,
        words: str,
        shown: frozenset[str],
        send: Callable[[str, Tell], None],
        write: Callable[[str], object] = lambda typed: None,
    ) -> None:
        """Send a message; while the agent waits, first ask what to do with the shown actions.

        `write` takes what is typed instead of an answer.
        """
        answering = self.answering
        if not (self._following.transcript.waiting and self._following.reached):
            send(words, lambda: answering.send(words))
            return
        if not shown:
            self._screen.say(
                Shown("The agent waits for an answer to what is not shown yet; nothing was sent."), Tone.WARN
            )
            return

        def chosen(answer: str) -> None:
            if answer == "reject":
                send(words, lambda: answering.reject(shown, words))
            else:
                send(words, lambda: answering.accept(shown, saying=words))

        self._asking = WaitingDialog(write)
        ask(self._screen.app, self._asking, chosen)

    def stop_asking(self) -> None:
        """Close the question what a message means to a waiting agent, because no answer can be sent now."""
        if self._asking is not None and self._asking.is_current:
            self._asking.dismiss(None)

    def answer(self, answer: str, shown: frozenset[str], send: Callable[[str, Tell], None]) -> None:
        """Answer the actions that were shown; `send` sends the reason of a rejection."""
        answering = self.answering
        if answer == "accept":
            self._screen.say(Shown("Reading whether it still waits for this…"), Tone.BUSY)
            self.tell(lambda: answering.accept(shown))
        elif answer == "reject":
            self._ask_why(shown, send)
        else:
            words = "It does these actions, and all that follow without asking, "
            words += "until its agent server restarts or the menu (f2) says otherwise."
            accept = partial(answering.accept, shown, all_that_follow=True)
            self._confirm("Accept all that follow?", (words,), accept, otherwise=self._answer_after_all)

    def action_stop(self) -> None:
        """Stop the agent."""
        self._screen.say(Shown("Stopping the agent…"), Tone.BUSY)
        self.tell(self.answering.stop)

    def action_go_on(self) -> None:
        """Let the agent continue, or resume its sandbox if that is paused."""
        following, session = self._following, self._session
        # The followed one comes first: by it the message line says that its sandbox is paused.
        record = following.record or session.conversations.records.get(following.conversation_id)
        sandbox_id = record.sandbox_id if record is not None else None
        if record is None or sandbox_id is None or record.sandbox_status != SandboxStatus.PAUSED:
            self._screen.say(Shown("Asking the agent to go on…"), Tone.BUSY)
            self.tell(self.answering.go_on)
            return

        async def resume() -> str:
            await session.ask(Action.RESUME, sandbox_id)
            following.refresh()
            return "Resume of its sandbox asked for."

        embedded = self._screen.app.endpoint.embedded
        words = "No agent runs in the local service." if embedded else "Its agent can be answered again once it runs."
        self._confirm("Resume its sandbox?", (words, session.displacement.forecast()), resume)

    def action_ask_always(self) -> None:
        """Make the agent ask before every action."""
        self.tell(lambda: self.answering.set_policy(ALWAYS))

    def action_ask_risky(self) -> None:
        """Make the agent ask before risky actions only."""
        self.tell(lambda: self.answering.set_policy(RISKY))

    def action_ask_never(self) -> None:
        """Make the agent never ask, after a confirmation."""
        words = "It does everything from now on without asking."
        self._confirm("Never ask?", (words,), lambda: self.answering.set_policy(NEVER))

    def tell(self, tell: Tell) -> None:
        """Run a request to the agent in the background; leaving the screen does not end it."""
        self._screen.app.run_worker(self.carry_out(tell), group="telling")

    async def carry_out(self, tell: Tell) -> bool:
        """Run a request and show its result; returns whether what was said has arrived."""
        self._changed()
        try:
            with self._session.writes.under_way("a request to an agent"):
                said = await tell()
        except ServiceError as error:
            self._say(error.sentences, Tone.BAD)
            return error.outcome is Outcome.APPLIED
        finally:
            self._changed()
        self._say(said, Tone.GOOD)
        return True

    def _say(self, words: str, tone: Tone) -> None:
        if self._screen.is_attached:
            self._screen.say(text.line(words), tone)
        else:
            self._screen.app.say_on_top(text.line(words))

    def _ask_why(self, shown: frozenset[str], send: Callable[[str, Tell], None]) -> None:
        async def take(typed: Typed) -> str:
            return str(typed["reason"])

        def rejected(reason: str | None) -> None:
            if reason:
                send(reason, lambda: self.answering.reject(shown, reason))
            elif reason is not None:
                self.tell(lambda: self.answering.reject(shown))
            else:
                self._answer_after_all()

        field = InputField(
            name="reason", label="Why", hint="sent to the agent, which goes on with it; may be left empty"
        )
        self._screen.app.push_screen(FormDialog(Shown("Reject"), (field,), take, verb="reject"), rejected)

    def _answer_after_all(self) -> None:
        """Go back to the question, from which a dialog was opened."""
        self._screen.call_later(self._screen.action_command, "answer")

    def _confirm(
        self, title: str, said: tuple[str, ...], tell: Tell, otherwise: Callable[[], None] = lambda: None
    ) -> None:
        def confirmed(yes: bool | None) -> None:
            if yes:
                self.tell(tell)
            else:
                otherwise()

        lines = tuple(cell(text.line(words)) for words in said if words)
        self._screen.app.push_screen(ConfirmDialog(Shown(title), lines), confirmed)
