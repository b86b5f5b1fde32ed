"""The controls of forms, whose value is `entered`, and a row with a label and a control."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from pydantic import SecretStr
from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, OptionList, Select, Static, TextArea

from quarterdeck.settings import masks
from quarterdeck.settings.fields import Problem
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.external import CannotRunError, edit
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Said
from quarterdeck.tui.widgets.choices import page

MOST = 4_000
"""Maximum characters of a line's initial value or of a paste: far more than anybody edits in one line."""
NONE = Shown("none")
KEEP = object()
"""Instead of a value: no edit, the stored value is kept."""
REPLACE = object()
"""The choice to replace a secret by what is typed."""
TO_TYPE = "to-type"
"""The class of a field whose secret is not known and must be typed."""
BETWEEN = 2
"""Cells between two choices."""


def abridged(value: str) -> str:
    """Return a value as its field shows it: the rest of a very long one is replaced by a mask.

    An untouched field keeps the whole value, and checks refuse a changed one that contains the mask.
    """
    first = text.editable_line(value[:MOST]).strip()
    return first if len(value) <= MOST else f"{first} {masks.MASK}"


class LineInput(Input):
    """Textual's input without a border, with undo; control characters in pasted text are removed."""

    BINDINGS = bindings({"ctrl+z": "step(-1)", "ctrl+y": "step(1)", "f4": "edit_outside"})

    def __init__(
        self,
        value: str = "",
        *,
        shown: str | None = None,
        placeholder: str = "",
        password: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        """Create a field with a value; `shown` is displayed instead, if given."""
        self._begun = value
        self._shown = value if password else abridged(value if shown is None else shown)
        self._history = [self._shown]
        """The contents so far, oldest first, for undo."""
        self._at = 0
        """The index of the current content."""
        self._typing = False
        self._noticed = False
        """Whether it was said what happened to the content, which goes with the next change."""
        super().__init__(
            self._shown, placeholder=placeholder, password=password, compact=True, select_on_focus=not password, id=id
        )
        self.cursor_blink = False
        self.is_secret = password

    @property
    def untouched(self) -> bool:
        """Whether the content is unchanged."""
        return self.value == self._shown

    @property
    def entered(self) -> str:
        """The content, without surrounding spaces unless it is secret; exactly the initial value if it is unchanged."""
        if self.untouched:
            return self._begun
        return self.value if self.is_secret else self.value.strip()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In an empty line, the left and right keys belong to the surrounding widget."""
        return bool(self.value) or action not in ("cursor_left", "cursor_right")

    def render_line(self, y: int) -> Strip:
        """Paint the line, with a sign where its end is cut while nobody types in it."""
        strip, width = super().render_line(y), self.content_size.width
        if self.has_focus or cell_len(self.value) <= width:
            return strip
        return Strip([*strip.crop(0, width - 1), Segment("…", self.rich_style)])

    def on_blur(self) -> None:
        """Show the beginning again: the sign for what is cut stands at the end."""
        self.scroll_to(x=0, animate=False, immediate=True)

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        if self.has_focus:
            self.call_after_refresh(self.mutate_reactive, Input.selection)

    def on_paste(self, event: events.Paste) -> None:
        """Insert pasted text as one line."""
        event.prevent_default()
        event.stop()
        self.paste(event.text)

    def paste(self, pasted: str) -> None:
        """Insert a text at the cursor, replacing the selection."""
        if len(pasted) > MOST:
            self.notice(f"The pasted text is longer than {MOST} characters. Not taken.")
            return
        cleaned = pasted.strip() if self.is_secret else text.editable_line(pasted)
        if self.is_secret and len(cleaned.splitlines()) > 1:
            self.notice("The pasted text has several lines; a key is one. Not taken.")
            return
        self.replace(cleaned, *sorted(self.selection))
        if self.is_secret and cleaned != pasted:
            self.notice("Spaces around the pasted key were left out.")

    def watch_value(self, before: str, after: str) -> None:
        """Record the content for undo; a word that is typed is one step, with the space before it."""
        if after != self._history[self._at]:
            typing = len(after) == len(before) + 1
            self._at += not (typing and self._typing) or (after.endswith(" ") and not before.endswith(" "))
            self._history[self._at :] = [after]
            self._typing = typing
        if self._noticed:
            self._noticed = False
            self.screen.post_message(Said(""))

    def action_step(self, step: int) -> None:
        """Undo the last change, or redo the next one."""
        if 0 <= self._at + step < len(self._history):
            self._at += step
            self._typing = False
            self.value = self._history[self._at]
            self.cursor_position = len(self.value)

    def action_edit_outside(self) -> None:
        """Edit the text in the person's editor; a secret is never written to a file."""
        if self.is_secret:
            self.notice("A secret is not written to a file for an editor.")
            return
        try:
            self.value = text.editable_line(edit(self.app, self.value))
            self.action_end()
        except CannotRunError as error:
            self.notice(str(error))

    def notice(self, words: str) -> None:
        """Say what happened to a text."""
        self._noticed = True
        self.screen.post_message(Said(words))


class PlainArea(TextArea):
    """Textual's text area without colours; tab moves the focus, pasted text is made safe."""

    BINDINGS = bindings({"f4": "edit_outside"})

    def __init__(self, value: str = "", *, soft_wrap: bool = True) -> None:
        super().__init__(text.editable(value), soft_wrap=soft_wrap, tab_behavior="focus", compact=True)
        self.cursor_blink = False

    @property
    def entered(self) -> Any:
        """The content without surrounding whitespace."""
        return self.text.strip()

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self.call_after_refresh(self.scroll_cursor_visible)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Bring the cursor into sight, but not yet while an undo has left it where no line is any more."""
        gone = self.cursor_location > self.document.end
        return Offset() if gone else super().scroll_cursor_visible(center, animate)

    def on_paste(self, event: events.Paste) -> None:
        """Insert pasted text at the cursor."""
        event.prevent_default()
        event.stop()
        self.replace(self.cleaned(event.text), *self.selection)

    def cleaned(self, pasted: str) -> str:
        """Return a pasted text as it is inserted: all of it, with line breaks."""
        return text.editable(pasted)

    def action_edit_outside(self) -> None:
        """Edit the text in the person's editor."""
        try:
            self.replace(text.editable(edit(self.app, self.text)), (0, 0), self.document.end)
            said = ""
        except CannotRunError as error:
            said = str(error)
        self.screen.post_message(Said(said))


class ChoiceLine(Widget, can_focus=True):
    """Choices side by side, `( ) not set  (•) on`; left, right, space and a click select one."""

    BINDINGS = bindings({"left": "step(-1)", "right,space": "step(1)"})
    entered: reactive[Any] = reactive(None)

    class Picked(Message):
        """Another choice was selected."""

    def __init__(self, choices: Mapping[Any, Shown], value: Any, *, focusable: bool = True) -> None:
        """Create the choices from values and their words, with the selected value."""
        super().__init__()
        self._choices = choices
        self.can_focus = focusable
        self.set_reactive(ChoiceLine.entered, value)

    def render(self) -> Content:
        """All choices, the selected one with a dot."""
        spans: list[tuple[Shown, Tone]] = []
        for value, word in self._choices.items():
            is_taken = value == self.entered
            spans.append((Shown("(•) " if is_taken else "( ) "), Tone.KEY if is_taken else Tone.MUTED))
            spans.append((word, Tone.STRONG if is_taken else Tone.PLAIN))
            spans.append((Shown(" " * BETWEEN), Tone.PLAIN))
        return content(spans)

    def action_step(self, step: int) -> None:
        """Select the next or previous choice, wrapping at the ends."""
        values = list(self._choices)
        at = values.index(self.entered) if self.entered in values else min(-step, 0)
        self._pick(values[(at + step) % len(values)])

    def on_click(self, event: events.Click) -> None:
        """Select the clicked choice."""
        edge = 0
        for value, word in self._choices.items():
            edge += len(word) + 4 + BETWEEN
            if event.x < edge:
                self._pick(value)
                return

    def _pick(self, value: Any) -> None:
        if value != self.entered:
            self.entered = value
            self.post_message(self.Picked())


Choices = Sequence[tuple[Shown | Content, str]]
"""The words of each choice, and its value."""


class OneOf(Select[str]):
    """One of a few values, each with its words, in a drop-down list."""

    BINDINGS = bindings({"pagedown": "page('down')", "pageup": "page('up')"}, priority=True)

    def __init__(self, value: str, choices: Callable[[], Choices]) -> None:
        """Create the list with a value; the choices are taken anew each time it opens."""
        self._offered, self._choices = choices(), choices
        super().__init__(_literal(self._offered), value=value, allow_blank=False, compact=True)

    @property
    def entered(self) -> str:
        """The selected value."""
        return str(self.value)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys for pages belong to the list where that has the focus, otherwise to the form."""
        return action != "page" or not self.has_focus

    def watch_expanded(self, expanded: bool) -> None:
        """Offer what can be chosen at that moment."""
        if expanded and (offered := self._choices()) != self._offered:
            self._offered, value = offered, self.entered
            with self.prevent(Select.Changed):
                self.set_options(_literal(offered))
                if value in (choice for _, choice in offered):
                    self.value = value

    async def action_page(self, direction: str) -> None:
        """Move a page up or down in the list."""
        await page(self.query_one(OptionList), direction)

    def action_show_overlay(self) -> None:
        """Open the list and focus it at once; Textual does that only after the keys that are typed already."""
        super().action_show_overlay()
        self.screen.set_focus(self.query_one(OptionList), scroll_visible=False)

    def focus(self, scroll_visible: bool = True, from_app_focus: bool = False) -> Self:
        """Take the focus back at once, too."""
        self.screen.set_focus(self, scroll_visible=scroll_visible, from_app_focus=from_app_focus)
        return self


def _literal(choices: Choices) -> list[tuple[Content | Text, str]]:
    """Return the choices for `Select`, which reads a plain `str` as markup."""
    return [(Text(words) if isinstance(words, str) else words, choice) for words, choice in choices]


class Compound(Vertical):
    """A control that consists of several widgets."""

    @property
    def entered(self) -> Any:
        """Its value."""
        raise NotImplementedError


class SecretControl(Compound):
    """Keep, replace or clear, above a masked field: typing selects replace, emptying the field selects keep.

    While the field is empty, the left and right keys change the choice.
    """

    BINDINGS = bindings({"ctrl+t": "reveal", "left": "step(-1)", "right": "step(1)"})

    def __init__(self, *, stored: bool | None, value: Any = KEEP, none: Shown = NONE) -> None:
        """Create the control with a value; `none` is the word for a secret that is not stored or will be cleared."""
        super().__init__()
        choices = {KEEP: Shown("keep"), REPLACE: Shown("replace"), None: Shown("clear")}
        if stored is False:
            choices = {KEEP: none, REPLACE: Shown("set one")}
        hint = "type or paste it" if stored is False else "type or paste to replace"
        begun = value.get_secret_value() if isinstance(value, SecretStr) else ""
        self.choices = ChoiceLine(choices, REPLACE if begun else value, focusable=False)
        self.field = LineInput(begun, placeholder=hint, password=True)

    def compose(self) -> ComposeResult:
        """The choices, and the field below them."""
        yield self.choices
        yield self.field

    @property
    def entered(self) -> Any:
        """`KEEP` (also for an empty replacement), the replacement, or None to clear it."""
        if self.choices.entered is not REPLACE:
            return self.choices.entered
        return SecretStr(self.field.entered) if self.field.entered else KEEP

    def action_reveal(self) -> None:
        """Show or mask what was typed."""
        self.field.password = not self.field.password

    def action_step(self, step: int) -> None:
        """Select the next or previous choice."""
        self.choices.action_step(step)

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        self.choices.entered = REPLACE if event.value else KEEP

    @on(ChoiceLine.Picked)
    def _picked(self) -> None:
        self.screen.set_focus(self.field)


FormControl = LineInput | PlainArea | ChoiceLine | OneOf | Compound


class FormRow(Vertical):
    """A label with its control, below that a hint and the sentence about what is wrong, and below all other widgets."""

    def __init__(self, label: Content, control: FormControl, *below: Widget, hint: str = "") -> None:
        super().__init__(classes="form-row")
        self.control = control
        self._label = label
        self._below = below
        self._hint = hint
        self._problem: Problem | None = None
        self.note = Static(classes="row-note")

    def compose(self) -> ComposeResult:
        """Label on the left; control, hint and sentence on the right; the rest over the whole width."""
        with Horizontal(classes="row-line"):
            yield Static(self._label, classes="row-label")
            with Vertical(classes="row-right"):
                yield self.control
                if self._hint:
                    yield Static(plain(self._hint, Tone.MUTED), classes="row-hint")
                yield self.note
        yield from self._below

    @property
    def value(self) -> Any:
        """Its value; an untouched control returns exactly its initial value."""
        return self.control.entered

    @property
    def first(self) -> Widget:
        """The widget to focus: the first secret that must be typed, otherwise the first one."""
        fields = [widget for widget in self.query("*") if widget.focusable]
        missing = (each for each in fields if isinstance(each, Input) and each.has_class(TO_TYPE) and not each.value)
        return next(missing, fields[0])

    def say_problem(self, problem: Problem | None) -> None:
        """Show what is wrong with the value, or remove it."""
        if problem != self._problem:
            self._problem = problem
            self.note.display = problem is not None
            if problem is not None:
                sign, tone = ("!", Tone.BAD) if problem.stops else ("·", Tone.WARN)
                self.note.update(plain(f"{sign} {problem.words}", tone))

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Select.Changed)
    @on(ChoiceLine.Picked)
    def _forget_problem(self) -> None:
        """Remove the sentence when the value changes."""
        self.say_problem(None)
