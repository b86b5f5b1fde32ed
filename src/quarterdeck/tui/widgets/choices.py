"""Lines to choose from, in a dialog or below a field."""

from typing import Literal

from textual import events
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import OptionList

from quarterdeck.tui.cells import Cell
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.paint import content, lines
from quarterdeck.tui.widgets.strips import hanging


async def page(options: OptionList, direction: str) -> None:
    """Move a page up or down; Textual fails where it has not laid out changed lines, or has no room for them."""
    options.scroll_to_highlight()  # lays them out
    if options.scrollable_content_region:
        await options.run_action(f"page_{direction}")


class Hanging(Visual):
    """A label and a text, whose further lines begin below its first."""

    def __init__(self, label: Cell, said: Cell) -> None:
        self._label = label
        self._said = said

    def _wrapped(self, width: int) -> Content:
        return lines(hanging(self._label, self._said, width))

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Return the lines at a width."""
        return self._wrapped(width).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the width of label and text on one line."""
        return content((*self._label, *self._said)).get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return how many lines they take at a width."""
        return self._wrapped(width).get_height(rules, width)


class ChoiceList(OptionList):
    """Lines to choose from, with the same keys for moving as the lists."""

    BINDINGS = bindings(
        {
            "j,down": "step(1)",
            "k,up": "step(-1)",
            "g": "first",
            "G": "last",
            "pagedown,ctrl+d": "page('down')",
            "pageup,ctrl+u": "page('up')",
        }
    )

    def __init__(self, *, focusable: bool = True, click: Literal["choose", "move", "turn"] = "choose") -> None:
        """Create an empty list; one that is not `focusable` belongs to a field, which keeps the focus."""
        super().__init__(markup=False, compact=True)
        self.can_focus = focusable
        self._click = click

    async def on_click(self, event: events.Click) -> None:
        """Choose the clicked line as enter does, or move to it before that, or turn it as space does."""
        line = event.style.meta.get("option")
        if line is None or self._click == "choose" or (self._click == "move" and line == self.highlighted):
            return
        event.prevent_default()
        if not self.options[line].disabled:
            self.highlighted = line
        if self._click == "turn":
            await self.run_action("screen.turn")

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> Style:
        """Return a style; without colours the chosen line is in reverse video, which Textual leaves out of styles."""
        style = super().get_visual_style(*component_classes, partial=partial)
        reverse = self.app.no_color and "option-list--option-highlighted" in component_classes
        return style + Style(reverse=True) if reverse else style

    def on_resize(self) -> None:
        """Keep the chosen line in sight."""
        self.call_after_refresh(self.scroll_to_highlight)

    def watch_show_vertical_scrollbar(self) -> None:
        """Wrap all lines anew for the width that is left: Textual does so if the list is resized or a line replaced."""
        if self.options:
            self.replace_option_prompt_at_index(0, self.options[0].prompt)

    async def action_page(self, direction: str) -> None:
        """Move a page up or down."""
        await page(self, direction)

    def action_step(self, step: int) -> None:
        """Move to the next or previous line; as in the lists, nothing comes after the last."""
        numbers, at = range(len(self.options))[::step], self.highlighted
        ahead = numbers if at is None else numbers[numbers.index(at) + 1 :]
        self.highlighted = next((number for number in ahead if not self.options[number].disabled), at)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """A key that the dialog treats as an answer does not move the cursor."""
        return self.screen.check_consume_key(key, character)
