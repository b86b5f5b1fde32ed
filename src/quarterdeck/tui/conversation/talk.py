"""Requests of a person to an agent: the questions asked before, what is sent, and the message about the result."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.conversation.composer import Composer
from quarterdeck.tui.conversation.drafts import Draft
from quarterdeck.tui.conversation.question import Question
from quarterdeck.tui.dialogs.base import Dialog, ask
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.form import FormDialog, InputField, Typed
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.widgets.bars import Hints

STILL_WAITS = "Reading whether it still waits for this…"
SETTING = "Telling the agent when to ask…"
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
            cell("Reject and say: refuse what it asks, then send this."),
            cell("Accept and say: send this, then let it do what it asks."),
            cell("Keep the draft: send nothing now, and go on writing.", Tone.MUTED),
        )
        super().__init__("The agent waits for an answer", said)
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


@dataclass(eq=False)
class Talk:
    """Talks to the agent for a screen: answers its question, and sends what was typed.

    `changed` is called when there may be something to show.
    """

    screen: DeckScreen
    session: Session
    following: Following
    question: Question
    composer: Composer
    changed: Callable[[], None]

    def __post_init__(self) -> None:
        """Answer the agent that is followed."""
        self.answering = Answering(self.following)
        self._asking: WaitingDialog | None = None
        """What was opened last about an agent that waits."""

    # Messages

    def send(self) -> None:
        """Send the draft."""
        if words := self.composer.text.strip():
            self._submit(words, self._send_draft, self.composer.insert)
        else:
            self.screen.say("There is nothing to send.", Tone.WARN)

    def action_send_on(self) -> None:
        """Send a message again that the agent has not read; the draft stays."""
        if (entry := self.following.transcript.unanswered) is not None:
            self._submit(entry.text, lambda words, tell: self._tell("Sending it again…", tell), lambda typed: None)

    def _submit(self, words: str, send: Callable[[str, Tell], None], write: Callable[[str], object]) -> None:
        """Send a message; while the agent waits, first ask what to do with the shown actions.

        `write` takes what is typed instead of an answer.
        """
        answering, shown = self.answering, self.question.ids

        def chosen(answer: str) -> None:
            if answer == "reject":
                send(words, lambda: answering.reject(shown, words))
            else:
                send(words, lambda: answering.accept(shown, saying=words))

        if not (self.following.transcript.waiting and self.following.reached):
            send(words, lambda: answering.send(words))
        elif shown:
            self._asking = WaitingDialog(write)
            ask(self.screen.app, self._asking, chosen)
        else:
            self.screen.say("The agent waits for an answer to what is not shown yet; nothing was sent.", Tone.WARN)

    def stop_asking(self) -> None:
        """Close the question what a message means to a waiting agent, because no answer can be sent now."""
        if self._asking is not None and self._asking.is_current:
            self._asking.dismiss(None)
            if self.following.reached:  # otherwise the message line says why, as long as it is so
                self.screen.say("The agent does not wait for an answer any more; nothing was sent.", Tone.WARN)

    def _send_draft(self, words: str, tell: Tell) -> None:
        self.composer.text = ""
        self._send(words, tell)

    def _send(self, words: str, tell: Tell) -> None:
        """Send words; they are kept until they were sent, even if the person leaves the screen."""
        message = Draft(conversation=self.composer.conversation_id, text=words, perhaps_sent=(words,))
        self.composer.drafts.sending.append(message)
        self.screen.app.run_worker(self._sent(message, tell), group="telling")

    async def _sent(self, message: Draft, tell: Tell) -> None:
        drafts, sent = self.composer.drafts, await self._carry_out(tell)
        drafts.sending.remove(message)
        screens = [each for each in self.screen.app.opened if isinstance(each, DeckScreen) and each.is_attached]
        composers = (composer for screen in screens for composer in screen.query(Composer))
        composer = next((each for each in composers if each.conversation_id == message.conversation), None)
        if composer is None:
            await drafts.close(message.conversation, "" if sent else message.text)
            return
        if not sent:
            composer.put_before(message.text)
        await composer.keep()
        await drafts.keep()  # the connection may have been opened anew, and with it other drafts

    # Answers

    def answer(self, answer: str) -> None:
        """Answer the actions that are shown, if there are any."""
        answering, shown = self.answering, self.question.ids
        if not shown:
            return
        if answer == "accept":  # reads whether it can be sent, and says why not
            self._tell(STILL_WAITS, lambda: answering.accept(shown))
        elif not self.question.answerable:
            read_only = self.screen.app.endpoint.read_only
            why = "This connection is read-only." if read_only else self.following.note
            self.screen.say(f"{why} No answer was sent.", Tone.WARN)
        elif answer == "reject":
            self._ask_why(shown)
        elif answer == "accept_all":
            words = "It does these actions, and all that follow without asking, "
            words += "until its agent server restarts or the menu (f2) says otherwise."
            accept = partial(answering.accept, shown, all_that_follow=True)
            self._confirm("Accept all that follow?", (words,), STILL_WAITS, accept, otherwise=self._answer_after_all)

    def action_stop(self) -> None:
        """Stop the agent."""
        self._tell("Stopping the agent…", self.answering.stop)

    def action_go_on(self) -> None:
        """Let the agent continue, or resume its sandbox if that is paused."""
        following, session = self.following, self.session
        # The followed one comes first: by it the message line says that its sandbox is paused.
        record = following.record or session.conversations.records.get(following.conversation_id)
        sandbox_id = record.sandbox_id if record is not None else None
        if record is None or sandbox_id is None or record.sandbox_status != SandboxStatus.PAUSED:
            self._tell("Asking the agent to go on…", self.answering.go_on)
            return

        async def resume() -> str:
            await session.request(Action.RESUME, sandbox_id)
            following.refresh()
            return "Resume of its sandbox asked for."

        embedded = self.screen.app.endpoint.embedded
        words = "No agent runs in the local service." if embedded else "You can write to its agent again once it runs."
        said = (words, session.displacement.forecast())
        self._confirm("Resume its sandbox?", said, "Asking the server to resume its sandbox…", resume)

    def action_ask_always(self) -> None:
        """Make the agent ask before every action."""
        self._tell(SETTING, lambda: self.answering.set_policy(ALWAYS))

    def action_ask_risky(self) -> None:
        """Make the agent ask before risky actions only."""
        self._tell(SETTING, lambda: self.answering.set_policy(RISKY))

    def action_ask_never(self) -> None:
        """Make the agent never ask, after a confirmation."""
        words = "It does everything from now on without asking."
        self._confirm("Never ask?", (words,), SETTING, lambda: self.answering.set_policy(NEVER))

    def _tell(self, doing: str, tell: Tell) -> None:
        """Say what is under way, and run the request in the background; leaving the screen does not end it."""
        self.screen.say(doing, Tone.BUSY)
        self.screen.app.run_worker(self._carry_out(tell), group="telling")

    async def _carry_out(self, tell: Tell) -> bool:
        """Run a request and show its result; returns whether what was said has arrived."""
        self.changed()
        try:
            with self.session.writes.under_way("a request to an agent"):
                said = await tell()
        except ServiceError as error:
            self._say(error.sentences, Tone.BAD)
            return error.outcome is Outcome.APPLIED
        finally:
            self.changed()
        self._say(said, Tone.GOOD)
        return True

    def _say(self, words: str, tone: Tone) -> None:
        if self.screen.is_attached:
            self.screen.say(words, tone)
        else:  # perhaps on another conversation
            self.screen.app.say_on_top(f"{text.name(self.screen.row_title())}: {words}")

    def _ask_why(self, shown: frozenset[str]) -> None:
        async def take(typed: Typed) -> str:
            return str(typed["reason"])

        def rejected(reason: str | None) -> None:
            if reason:
                self.screen.say(STILL_WAITS, Tone.BUSY)
                self._send(reason, lambda: self.answering.reject(shown, reason))
            elif reason is not None:
                self._tell(STILL_WAITS, lambda: self.answering.reject(shown))
            else:
                self._answer_after_all()

        def said() -> tuple[Cell, ...]:
            ids = frozenset(entry.id for entry in self.following.transcript.question)
            if ids == shown:
                return ()
            dialog.hint((("enter", "keep as a draft"), ("esc", "cancel")))
            gone = "The agent does not ask this any more, so nothing is sent; enter keeps what you type as a draft."
            return (cell(gone, Tone.WARN),)

        field = InputField(
            name="reason", label="Why", hint="sent to the agent, which goes on with it; may be left empty"
        )
        dialog = FormDialog("Reject", (field,), take, said=said, verb="reject")
        self.screen.app.push_screen(dialog, rejected)

    def _answer_after_all(self) -> None:
        """Go back to the question, from which a dialog was opened."""
        self.screen.call_later(self.screen.action_command, "answer")

    def _confirm(
        self, title: str, said: tuple[str, ...], doing: str, tell: Tell, otherwise: Callable[[], None] = lambda: None
    ) -> None:
        def confirmed(yes: bool | None) -> None:
            if yes:
                self._tell(doing, tell)
            else:
                otherwise()

        lines = tuple(cell(words) for words in said if words)
        self.screen.app.push_screen(ConfirmDialog(title, lines), confirmed)
