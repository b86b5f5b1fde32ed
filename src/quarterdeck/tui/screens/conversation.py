"""The screen of one conversation: following, answering and stopping its agent."""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from time import monotonic

from textual import events, on, work
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.fleet.conversations import conversation_row
from quarterdeck.fleet.entries import Entry, EntryKind
from quarterdeck.fleet.following import Following, Origin
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.transcript import STREAMED
from quarterdeck.tui import external, text
from quarterdeck.tui.app import OpenForm
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.conversations import detail
from quarterdeck.tui.commands import Command, Place, bindings_at, key_bar_hints
from quarterdeck.tui.conversation.composer import Composer
from quarterdeck.tui.conversation.entry_lines import copied
from quarterdeck.tui.conversation.head import about_line, origin_cell
from quarterdeck.tui.conversation.log import Log, ReadingPosition
from quarterdeck.tui.conversation.question import Question
from quarterdeck.tui.conversation.talk import Talk
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.paint import content
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Header, Hint, working
from quarterdeck.tui.widgets.inputs import LineInput

PAINTED_EVERY = 0.1
"""Seconds in which events are collected before painting."""
ANSWER_KEY_RESTS = 1.0
"""Seconds after an answer in which its key, struck twice, copies nothing."""
WRITING = working((("^s", "send"), ("esc", "leave; the draft is kept"), ("f4", "$EDITOR")))
ANSWERING = working((("y", "accept"), ("n", "reject"), ("a", "all from here"), ("esc", "back")))
FINDING = working((("enter", "the one before"), ("esc", "close")))


class ConversationScreen(DeckScreen):
    """A conversation, shown above the list."""

    PLACE = Place.CONVERSATION
    CSS = """
    #about { height: 1; padding: 0 1; }
    #below { height: 1; padding: 0 1; text-align: right; display: none; }
    #find { display: none; padding: 0 1; }
    """
    BINDINGS = bindings_at(Place.CONVERSATION)

    def __init__(self, session: Session, conversation_id: str) -> None:
        super().__init__()
        self.header = Header(Place.CONVERSATIONS)
        self._session = session
        self.conversation_id = conversation_id
        memories = session.memories.by_id
        self._following = Following(session.client, conversation_id, self._changed, self.app.clock, memories)
        position = self.app.reading_positions.get(conversation_id, ReadingPosition())
        self._following.transcript.overheard = position.overheard
        self.log_view = Log(self._local, position)
        self._question = Question()
        self._composer = Composer(conversation_id, self.app.drafts)
        self._talk = Talk(self, session, self._following, self._question, self._composer, self._changed)
        self.helpers = (self._talk,)
        self._about = Static(id="about")
        self._below = Static(id="below")
        self._find = LineInput(id="find", placeholder="find: enter goes to the one before, esc closes")
        self._answered_at = -math.inf
        self._painting: Timer | None = None
        self._seen = False
        """Whether its end, or why it cannot be read, was on the screen."""
        self._seen_status = ""
        """The status of the agent that was on the screen last."""

    def parts(self) -> Iterable[Widget]:
        """Header, log, find field, question, composer."""
        return (self._about, self.log_view, self._below, self._find, self._question, self._composer)

    def on_mount(self) -> None:
        """Start following."""
        self.log_view.empty = Shown("Reading…"), Tone.MUTED
        self.set_focus(self.log_view)
        self.run_worker(self._following.run(), group="following")
        self.set_interval(1.0, self.refresh_health)

    def on_unmount(self) -> None:
        """Remember the reading position, and what was seen: the list may learn of it later."""
        status = self._following.transcript.status
        if status and status == self._seen_status and self._following.reached:
            self._session.saw(self.conversation_id, status)
        position = self.log_view.reading_position()._replace(overheard=self._following.transcript.overheard)
        self.app.reading_positions[self.conversation_id] = position

    def on_screen_resume(self) -> None:
        """Have its record read as often as a list that is on the screen."""
        self._session.set_viewport(About.CONVERSATIONS, (self.conversation_id,))

    def on_news(self, news: News) -> None:
        """Handle news: poll if its sandbox or record may have changed, close if the connection is another one."""
        super().on_news(news)
        record = self._record
        if self.app.session is not self._session:
            self._leave()
        elif self.conversation_id in news.ids or (record is not None and record.sandbox_id in news.ids):
            self._following.refresh(gone=self.conversation_id not in self._session.conversations.records)

    @on(events.ScreenResume)
    def _leave(self) -> None:
        """Close, with the dialogs above, if the connection is another one.

        On another screen, or below a form in which somebody types, it does so once that is left.
        """
        screens = self.app.screen_stack
        if self.app.session is self._session or self not in screens or isinstance(screens[-1], OpenForm):
            return
        if isinstance(self.app.focused, Composer | Input):
            self.app.key_lost_at = monotonic()  # what is typed on is no command
        for screen in reversed(screens[screens.index(self) :]):
            screen.dismiss()

    # What is shown

    def _changed(self) -> None:
        """Show the changes soon, together with those until then."""
        if self._painting is None and self.is_mounted:
            self._painting = self.set_timer(PAINTED_EVERY, self._show)

    def _show(self) -> None:
        self._painting = None
        transcript = self._following.transcript
        if not transcript.entries and self._following.origin is not Origin.OPENING:
            unread = self._following.unread
            nothing = f"Nothing could be read. {unread}" if unread else "Nothing has happened yet."
            self.log_view.empty = text.line(nothing), Tone.WARN if unread else Tone.MUTED
        asked = () if self._following.only_read else transcript.question
        self.log_view.show(transcript.entries, asked=bool(asked), reached=self._following.reached)
        if self._question.ask(asked) and self._question.has_focus:
            self.set_focus(self.log_view)
        if not (self._following.reached and transcript.waiting):
            self._talk.stop_asking()
        self._composer.writable = not (self._following.only_read or self.app.endpoint.read_only)
        self._question.answerable = self._following.reached and not self.app.endpoint.read_only
        too_little = len(transcript.entries) < self.size.height or transcript.begins_in_the_middle
        if transcript.older is not None and not self._following.older_unread and (self.log_view.wanted or too_little):
            self._read_older()
        self.refresh_frame()

    def refresh_health(self) -> None:
        """Update the header, which counts seconds, the line below the log, which counts new entries, and the composer.

        While somebody is in that, it stays: what is typed would become commands.
        """
        super().refresh_health()
        self._composer.display = self._composer.writable or bool(self._composer.text) or self._composer.has_focus
        width = max(self.size.width - 2, 1)
        about = about_line(self._following, self.conversation_id, self._record, self.app.clock(), width)
        self._about.update(content(about))
        below, painted = self.log_view.below, self._painting is None
        if painted and not (below or self.log_view.wanted or self._following.origin is Origin.OPENING):
            self._note_seen()
        self._below.display = below > 0
        self._below.update(content(((Shown(f"{below:,} new below, G"), Tone.WARN),)))

    def _note_seen(self) -> None:
        """Note that its end is in sight, and what the agent came to before somebody's eyes."""
        if not self._seen:
            self._seen = True
            self._session.unread.mark_read((self.conversation_id,), self.app.clock())
        status = self._following.transcript.status
        in_sight = self.app.terminal_focus and self in self.app.screen_stack
        if in_sight and self._following.reached and status not in ("", self._seen_status):
            self._seen_status = status
            self._session.saw(self.conversation_id, status)

    def hints(self) -> tuple[Hint, ...]:
        """The keys of the focused field, else those of the screen."""
        if self._composer.has_focus:
            return WRITING
        if self._question.has_focus and self._question.answerable:
            return ANSWERING
        if self._find.has_focus:
            return FINDING
        hints = key_bar_hints(self.PLACE, self._is_offered)
        return tuple(hint for hint in hints if hint[2])

    def _is_offered(self, command: Command) -> bool:
        """Whether the key bar names a command; what cannot be answered may still be gone to and read."""
        return self.why_not(command) is None and (command.name != "answer" or self._question.answerable)

    def health(self) -> Cell:
        """The source of the events."""
        return origin_cell(self._following, self.app.clock())

    def resting_line(self) -> Cell:
        """Why the agent server is not the source, what could not be read, or which message the agent did not read."""
        notes = self._following.note or self._talk.answering.note, self._following.older_unread
        leaves = "esc, then " if self._composer.has_focus else ""
        if note := " ".join(dict.fromkeys(filter(None, notes))):
            advice = f"{leaves}r resumes it." if self._following.origin is Origin.SANDBOX_PAUSED else ""
            return cell(f"{note} {advice}", Tone.WARN)
        if self._following.transcript.unanswered is not None:
            words = f"The agent ended without reading your last message; {leaves}R sends it again."
            return cell(words, Tone.WARN)
        return ()

    @property
    def _record(self) -> Conversation | None:
        return self._session.conversations.records.get(self.conversation_id) or self._following.record

    def _local(self, at: datetime | None) -> datetime | None:
        moment = self._following.moment(at)
        return moment.astimezone() if moment is not None else None

    def where_keys_are(self) -> str:
        """Where the letters of an answer mean something, if there is a question."""
        return "tab goes to what the agent asks" if self._question.actions else super().where_keys_are()

    # Reading and searching

    @on(Log.Moved)
    def _read_more(self) -> None:
        self.message_line.go_on()
        self.refresh_health()
        if self.log_view.at_top:
            self._read_older()

    @work(exclusive=True, group="older")
    async def _read_older(self) -> None:
        """Read the previous page, if there is one."""
        with suppress(ServiceError):  # the message line says it for as long as it is so
            await self._following.older()

    def why_not(self, command: Command) -> str | None:
        """Return why a command cannot be done in the current state of the conversation."""
        transcript = self._following.transcript
        if (reason := super().why_not(command)) is not None:
            return reason
        match command.name:
            case "message" | "go_on" | "stop" | "send_on" if self._following.only_read:
                return self._following.note
            case "answer" if not self._question.actions:
                reading = self._following.origin is Origin.OPENING
                return "The conversation was not read yet; try again." if reading else "The agent asks for nothing."
            case "go_on" if self._following.origin is Origin.SANDBOX_PAUSED and self.app.endpoint.embedded:
                return None
            case "go_on" | "stop" | "send_on" | "ask_always" | "ask_risky" | "ask_never" if self.app.endpoint.embedded:
                return "No agent runs in the local service."
            case "ask_always" | "ask_risky" | "ask_never" if not self._following.reached:
                return self._following.note or "The conversation is still being opened."
            case "go_on" if self._following.origin in (Origin.COPY, Origin.SILENT, Origin.GONE):
                return self._following.note
            case "go_on" if transcript.waiting and self._following.reached:
                return "The agent waits for an answer; tab goes to its question."
            case "go_on" if transcript.running and self._following.reached:
                return "The agent works already."
            case "go_on" if self._following.reached and transcript.status == ExecutionStatus.FINISHED:
                return "It had finished; a message makes it go on."
            case "go_on" if self._following.reached and not transcript.asked_for_anything:
                return "Nothing was asked of the agent yet; m writes a message."
            case "stop" if transcript.waiting and self._following.reached:
                return "The agent waits for an answer; tab goes to its question, where n rejects."
            case "stop" if self._following.origin is Origin.SANDBOX_PAUSED or not transcript.running:
                return "The agent does not work now."
            case "send_on" if transcript.status == ExecutionStatus.PAUSED:
                return "The agent is paused; r lets it go on, and it reads your message then."
            case "send_on" if transcript.unanswered is None:
                return "R is for a message that the agent did not read before it finished; there is none."
            case "copy" if monotonic() - self._answered_at < ANSWER_KEY_RESTS:
                return "That key has just answered; in a moment it copies again."
            case "unfold" | "copy" | "pager" if self.log_view.cursor_entry is None:
                return "There is no entry here."
            case _:
                return None

    async def action_command(self, name: str) -> None:
        """Run a command, on all that was read, also what is not painted yet."""
        if self._painting is not None:
            self._painting.stop()
            self._show()
        await super().action_command(name)

    def action_unfold(self) -> None:
        """Unfold the entry under the cursor, or fold it."""
        entry = self.log_view.cursor_entry
        if entry is not None and not self.log_view.toggle():
            written = "It is still being written; all of it can be shown once it has ended."
            self.say(written if entry.id == STREAMED else "All of the entry is shown.")

    def action_message_before(self) -> None:
        """Go to the person's previous message."""
        self._go_to_entry(-1, lambda entry: entry.kind is EntryKind.PERSON, "message of yours")

    def action_message_after(self) -> None:
        """Go to the person's next message."""
        self._go_to_entry(1, lambda entry: entry.kind is EntryKind.PERSON, "message of yours")

    def action_failure_before(self) -> None:
        """Go to the previous failure."""
        self._go_to_entry(-1, lambda entry: entry.failed, "failure")

    def action_failure_after(self) -> None:
        """Go to the next failure."""
        self._go_to_entry(1, lambda entry: entry.failed, "failure")

    def _go_to_entry(self, step: int, wanted: Callable[[Entry], bool], what: str) -> None:
        transcript = self._following.transcript
        if not self.log_view.search(step, wanted):
            more = " in what had been read" if step < 0 and (transcript.older or not transcript.known) else ""
            self.say(f"No {what} {'before' if step < 0 else 'after'} this one{more}.", Tone.WARN)
            if more:
                self._read_older()

    def action_find(self) -> None:
        """Ask for words to find."""
        self._find.display = True
        self.set_focus(self._find)

    @on(Input.Submitted, "#find")
    def _find_before(self, event: Input.Submitted) -> None:
        if words := event.value.strip():
            self.message_line.clear()

            def has(entry: Entry) -> bool:
                tool = entry.who if entry.kind is EntryKind.TOOL else ""
                return words.casefold() in f"{tool} {copied(entry)}".casefold()

            here = self.log_view.cursor_entry
            went = self.log_view.search(-1, has, around=True)
            if went > 0:
                self.say("None before it; gone round to the last one.")
            elif not went:
                no = "No other" if here is not None and has(here) else "No"
                self.say(f"{no} “{words}” in what has been read.", Tone.WARN)

    def action_back(self) -> None:
        """Close what is open, or go back to the list."""
        if self.focused is self.log_view and not self._find.display:
            self.dismiss()
        self._find.display = False
        self.set_focus(self.log_view)

    def action_refresh(self) -> None:
        """Poll now, this conversation and everything else."""
        self._following.refresh()
        self._session.refresh(asked=True)

    def action_conversations(self) -> None:
        """Go back to the list."""
        self.dismiss()

    # A single entry

    def action_copy(self) -> None:
        """Copy the entry."""
        if (entry := self.log_view.cursor_entry) is not None:
            self.say(self.app.copy_text("the entry", copied(entry), "; V opens it in $PAGER"))

    def action_pager(self) -> None:
        """Show the entry in the person's pager."""
        if (entry := self.log_view.cursor_entry) is not None:
            try:
                external.view(self.app, copied(entry))
            except external.CannotRunError as error:
                self.say(str(error), Tone.BAD)

    async def action_detail(self) -> None:
        """Show everything about the conversation, kept up to date."""
        await self.app.push_screen(PageDialog(self.row_title(), self._detail))

    def _detail(self) -> list[Cell]:
        row, record = self._session.conversation_row(self.conversation_id), self._following.record
        if row is None and record is not None:
            row = conversation_row(record, clock=self._session.server_clock)
        return detail(row, self.app.clock()) if row is not None else [cell("It has not been read.", Tone.WARN)]

    def row_title(self) -> str:
        """The title of the menu."""
        return (self._record.title if self._record else "") or "The conversation"

    # Messages

    def action_message(self) -> None:
        """Write a message."""
        self.set_focus(self._composer)

    def action_send(self) -> None:
        """Send the draft, and go to the end, where it is shown."""
        self.message_line.clear()
        if self._composer.text.strip():
            self.log_view.action_last()
        self._talk.send()

    # Answers

    def action_answer(self) -> None:
        """Go to the agent's question."""
        self.set_focus(self._question)

    def action_answer_with(self, answer: str) -> None:
        """Answer the question and move the focus away, so that a held key gives only one answer."""
        self.set_focus(self.log_view)
        self._answered_at = monotonic()
        self._talk.answer(answer)
