"""The question of an agent: every action in full, and keys that work only while this widget has the focus."""

from textual.app import ComposeResult
from textual.reactive import var

from quarterdeck.fleet.entries import Entry
from quarterdeck.settings.words import counted
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, indented
from quarterdeck.tui.commands import MOVING, bindings
from quarterdeck.tui.conversation.entry_lines import CHANGES, RISKS
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Said
from quarterdeck.tui.widgets.lines import Lines, TextScroll


class Question(TextScroll, can_focus=True):
    """Shown while an agent waits; its keys work only while it has the focus."""

    DEFAULT_CSS = """
    Question {
        height: auto; max-height: 50%; padding: 0 1; display: none; border-top: heavy $tone-warn;
        border-title-color: $tone-warn; scrollbar-size-vertical: 1;
        &.-asked { display: block; }
        & > Lines { min-height: 0; }
        &:focus { border-top: heavy $tone-key; border-title-color: $tone-key; }
    }
    """
    BINDINGS = bindings(
        {"y": "accept('accept')", "n": "screen.answer_with('reject')", "a": "accept('accept_all')", **MOVING}
    )

    answerable: var[bool] = var(default=True)
    """Whether an answer can be sent."""

    def __init__(self) -> None:
        super().__init__(id="question")
        self.actions: tuple[Entry, ...] = ()
        self._shown_to_end = False
        self._lines = Lines()

    def compose(self) -> ComposeResult:
        """The actions."""
        yield self._lines

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the shown actions."""
        return frozenset(entry.id for entry in self.actions)

    def ask(self, actions: tuple[Entry, ...]) -> bool:
        """Show these actions; returns whether they differ from before."""
        if [entry.id for entry in actions] == [entry.id for entry in self.actions]:
            return False
        self.actions = actions
        self.set_class(bool(actions), "-asked")
        self._lines.say([line for entry in actions for line in asked_lines(entry)])
        self.action_first()
        self._shown_to_end = False
        self.call_after_refresh(self._note_end)
        return True

    async def action_accept(self, answer: str) -> None:
        """Accept what was asked, but only after all of it was on the screen."""
        if self._shown_to_end:
            await self.run_action(f"screen.answer_with('{answer}')")
        else:
            self.action_page(1.0)
            self.screen.post_message(Said("It asks for more than was shown; read to the end, then accept."))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Note when the end is on the screen."""
        super().watch_scroll_y(old_value, new_value)
        self.call_after_refresh(self._note_end)

    def on_resize(self) -> None:
        """Note when the end is on the screen."""
        self._note_end()

    def _note_end(self) -> None:
        self._shown_to_end = self._shown_to_end or (bool(self.size) and self.is_vertical_scroll_end)
        self.entitle()

    def entitle(self) -> None:
        """Show how to answer, in the title."""
        count = counted(len(self.actions), "action")
        if self.answerable and self.has_focus:
            more = "" if self._shown_to_end else ", j more"
            self.border_title = f" {count}{more}: y accept  n reject  a all from here  esc back "
        else:
            tab = "; tab answers" if self.answerable else ""
            self.border_title = f" needs you: {count}{tab} "

    watch_answerable = entitle

    def watch_has_focus(self, has_focus: bool) -> None:
        """Update the title, because the keys work only with the focus."""
        super().watch_has_focus(has_focus)
        self.entitle()


def asked_lines(entry: Entry) -> list[Cell]:
    """Return an action with its risk, its whole command, and the reason given by the model."""
    risk = text.line(entry.risk or "risk not told"), RISKS.get(entry.risk, Tone.MUTED)
    lines: list[Cell] = [(risk, (Shown("  "), Tone.PLAIN), (text.line(entry.who), Tone.STRONG))]
    lines += [indented(Shown(each), Tone.STRONG) for each in text.whole(entry.title).split("\n")]
    for sign, words in entry.edit.lines if entry.edit is not None else ():
        lines.append(((Shown(f"  {sign} "), Tone.MUTED), (text.line(words), CHANGES.get(sign, Tone.MUTED))))
    reasons = filter(None, (entry.summary, entry.said))
    return [*lines, *(indented(text.line(f'"{reason}"'), Tone.MUTED) for reason in reasons)]
