"""All lines of the form, group by group."""

from collections.abc import Iterator

from quarterdeck.settings.fields import Group
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.settings.lines import Line, count_cell, field_lines, other_lines
from quarterdeck.tui.widgets.settings.list_lines import profile_lines, secret_lines, token_lines
from quarterdeck.tui.widgets.settings.server_lines import server_lines
from quarterdeck.tui.widgets.settings.view import FormView

AT_ONCE = frozenset({Group.PROFILES, Group.TOKENS, Group.SECRETS})
"""Groups that are no part of a save."""


def form_lines(view: FormView, width: int) -> tuple[Line, ...]:
    """All lines of the form at a width in cells."""
    found: list[Line] = []
    for group in view.groups:
        rows = tuple(_group_lines(view, group, width))
        if not rows:
            continue
        if found:
            found.append(Line())
        found.append(Line(((cell(line(group), Tone.KEY), 0),), _heading_chip(view, group), heading=group))
        found.extend(rows)
    return tuple(found)


def _heading_chip(view: FormView, group: str) -> Cell:
    return cell(Shown("changes act at once"), Tone.MUTED) if group in AT_ONCE else count_cell(view, group)


def _group_lines(view: FormView, group: str, width: int) -> Iterator[Line]:
    yield from field_lines(view, group, width)
    match group:
        case Group.PROFILES:
            yield from profile_lines(view)
        case Group.MCP:
            yield from server_lines(view, width)
        case Group.TOKENS:
            yield from token_lines(view)
        case Group.SECRETS:
            yield from secret_lines(view)
        case Group.OTHER:
            yield from other_lines(view)
