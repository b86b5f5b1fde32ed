"""Creating a conversation: the form, the request, and what is kept of it until the conversation is there."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandbox_state import StateWord
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.form import FormDialog, InputField, RefusedError, Typed
from quarterdeck.tui.lists.screen import ListScreen
from quarterdeck.tui.lists.unsent import LEFT, Unsent, UnsentConversation
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.inputs import Choices, OneOf, PlainArea


@dataclass(eq=False)
class Creation:
    """A conversation that a person asks for: anew, with what was offered again, or in place of a `failed` start."""

    screen: ListScreen[ConversationRow]
    session: Session
    offers: Unsent
    failed: StartTask | None = None

    def __post_init__(self) -> None:
        """Make the form."""
        self._endpoint = self.screen.app.endpoint
        self._unsent = self.offers.take(self._endpoint.about) if self.failed is None else None
        """What was sent and is not known to be stored."""
        self._begun = self._beginning()
        self._said: list[Cell] = [] if self._unsent is None else [cell(self._unsent.because, Tone.BAD)]
        sandbox = self._begun.sandbox_id
        if sandbox and sandbox not in [sandbox_id for _, sandbox_id in self._sandboxes()]:
            self._said.append(cell(f"It was to live in {sandbox}, which cannot take it now.", Tone.WARN))
            self._begun = self._begun.model_copy(update={"sandbox_id": None})
        self._dialog = FormDialog(
            "New conversation" if self.failed is None and self._unsent is None else "Try it again",
            _fields(self._begun, self._sandboxes),
            self._create,
            said=lambda: [*_applies(self.session), *self._said],
            verb="create",
            sending="Creating the conversation… esc goes back to the list meanwhile.",
            on_background=self._on_background,
        )

    async def ask(self) -> None:
        """Open the form; what applies on this server is said in it as soon as it is known."""
        await self.screen.app.push_screen(self._dialog, self._closed)

    def _beginning(self) -> NewConversation:
        if self._unsent is not None:
            return NewConversation().model_copy(update=self._unsent.entered)
        return (self.failed and self.failed.request) or NewConversation()

    def _sandboxes(self) -> Choices:
        """Return a new sandbox and those that a new conversation can use; the server resumes a paused one."""
        kind, now = self.session.server.kind, self.screen.app.clock()
        new = "a new one" if kind is not None and kind.local else "a new one, unless grouped"
        there = (
            (text.line(", ".join((row.short_id, row.state(now).words, *row.conversation_titles[:1]))), row.id)
            for row in self.session.sandbox_rows
            if row.state(now).known in (StateWord.RUNNING, StateWord.PAUSED)
        )
        return [(Shown(new), ""), *there]

    async def _create(self, typed: Typed) -> bool:
        if typed["selected_branch"] and not typed["selected_repository"]:
            raise RefusedError("A branch needs its repository.", "selected_repository")
        about, app = self._endpoint.about, self.screen.app
        new = self._begun.model_copy(update={name: value or None for name, value in typed.items()})
        at = app.clock() if self._unsent is None else self._unsent.at
        unsent = self._unsent = UnsentConversation(entered=new.model_dump(), because=LEFT, at=at)
        await self.offers.keep(about, unsent)
        asked = app.wanted = uuid4().hex
        try:
            created = await self.session.create(new, None if self.failed is None else self.failed.id)
        except ServiceError as error:
            self._unsent = unsent.model_copy(update={"because": error.sentences})
            if not self._dialog.in_background and error.outcome not in (Outcome.UNKNOWN, Outcome.APPLIED):
                self._dialog.allow_closing()
                raise
            self.offers.offer(about, self._unsent)
            if app.endpoint == self._endpoint:
                words = f"{error.sentences} n shows what you entered."
            else:
                words = f"{self._endpoint.name}: {error.sentences} n there has its words."
            self.screen.say(words, Tone.BAD)
            return True
        if app.wanted == asked:
            app.wanted = created
        self.screen.say("Created. The list shows how it starts, as far as the server tells.", Tone.GOOD)
        self.offers.drop(about, unsent)
        return True

    def _on_background(self) -> None:
        self.screen.say("Creating the conversation; what comes of it is said here.", Tone.BUSY)

    def _closed(self, done: bool | None) -> None:
        about, unsent = self._endpoint.about, self._unsent
        if unsent is None or done or self._dialog.in_background:
            return
        if all((value or None) == unsent.entered.get(name) for name, value in self._dialog.typed.items()):
            self.offers.offer(about, unsent)  # only what was typed anew is dropped by escape
            self.screen.say("Not created; n shows what you entered.", Tone.WARN)
        else:
            self.offers.drop(about, unsent)


def _applies(session: Session) -> list[Cell]:
    """Return what applies to a new conversation, as far as the server is known."""
    kind = session.server.kind
    if kind is None:
        return []
    if kind.simulated:
        words = "This is a simulation: its agents only play."
    elif kind.local:
        words = "The local service keeps conversations; it runs no agent and fetches no repository."
    else:
        words = "What is stored in the settings (3) applies: model, key, tool servers, git identity, sandbox grouping."
    return [cell(words, Tone.MUTED)]


def _fields(asked: NewConversation, sandboxes: Callable[[], Choices]) -> tuple[InputField, ...]:
    """Return the fields for message, title, repository, branch and sandbox; every one may be left empty."""
    message = PlainArea(asked.message or "")
    message.move_cursor(message.document.end)
    return (
        InputField("message", "First message", control=message),
        InputField("title", "Title", asked.title, "empty: the server names it"),
        InputField(
            "selected_repository",
            "Repository",
            asked.selected_repository,
            "none, or owner/name",
            _problem_with_repository,
        ),
        InputField("selected_branch", "Branch", asked.selected_branch, "the repository's own", _problem_with_branch),
        InputField("sandbox_id", "Sandbox", control=OneOf(asked.sandbox_id or "", sandboxes)),
    )


def _problem_with_repository(name: str) -> str | None:
    parts = name.split("/")
    if not name or (len(parts) > 1 and all(parts) and not any(map(str.isspace, name))):
        return None
    return "A repository is written as owner/name, without blanks."


def _problem_with_branch(name: str) -> str | None:
    return "A branch has no blanks in its name." if any(map(str.isspace, name)) else None
