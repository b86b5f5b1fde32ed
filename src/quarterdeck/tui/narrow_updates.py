"""Sends the terminal no more of a line than was asked to be painted.

Textual cuts what it writes at the end of a changed region only: each update begins where the widget does.
"""

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, Compositor


class NarrowUpdate(ChopsUpdate):
    """Changed spans of the screen, cut at both of their ends."""

    def render_segments(self, console: Console) -> str:
        """The spans as they are written to the terminal."""
        written: list[str] = []
        for y, start, end in self.spans:
            for chop_end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(x, start), min(chop_end, end)
                if strip is not None and left < right:
                    written += Control.move_to(left, y).segment.text, strip.crop(left - x, right - x).render(console)
        return "".join(written)


class NarrowCompositor(Compositor):
    """Puts the widgets of a screen together, and updates narrowly."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """What changed on the screen; None for nothing."""
        update = super().render_partial_update()
        return None if update is None else NarrowUpdate(update.chops, update.spans, update.chop_ends)
