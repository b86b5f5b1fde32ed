"""The MCP servers as a table: one look for the three transports, in columns that the width decides."""

from collections.abc import Iterator

from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.settings import words
from quarterdeck.settings.mcp import Entry, EntryState, duplicates
from quarterdeck.settings.mcp_server import missing, name_of
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.form.lines import DOT, GAP, GUTTER, MARGIN, NOTHING, Line, brief, problem_lines
from quarterdeck.tui.widgets.form.view import FormView, RowKind

STATE, KIND, KEY = 9, 6, 9
"""Cells of the columns that always hold the same few words."""
NAME_SHARE = 0.5
"""Of the cells that name and details share, at most, for the name."""
LEAST_NAME = 17
LEAST_SHARED = 44
"""Cells below which name and details have no columns of their own."""
OF_THE_LIST = frozenset({"name", "transport"})
"""Members some servers add to each entry; the table says what they tell already."""

_CHIPS = {
    EntryState.ADDED: (Shown("new"), Tone.EDITED),
    EntryState.EDITED: (Shown("edited"), Tone.EDITED),
    EntryState.REMOVED: (Shown("will be deleted"), Tone.WARN),
    EntryState.DISABLED: (Shown("will be disabled"), Tone.WARN),
    EntryState.ENABLED: (Shown("will be enabled"), Tone.EDITED),
}
_MEMBERS = {"": "entry", "url": "address", "api_key": "key", "args": "arguments", "env": "variables"}
"""The word for a member that something is wrong with."""


def server_lines(view: FormView, width: int) -> Iterator[Line]:
    """The head of the table, the banner on servers that are there twice, and the servers."""
    entries = view.servers()
    if not entries:
        if not view.query:
            said: Cell = (
                (Shown("None yet. "), Tone.MUTED),
                (Shown("a"), Tone.KEY),
                (Shown(" adds one; the menu on "), Tone.MUTED),
                (Shown("f2"), Tone.KEY),
                (Shown(" takes pasted JSON."), Tone.MUTED),
            )
            yield Line(((said, 0),), row=RowKind.SERVER)
        return
    name_width = _name_width(entries, width)
    groups = () if view.query else duplicates(view.draft.servers)
    twice = frozenset(row for group in groups for row in group)
    yield from _banner(sum(len(group) - 1 for group in groups))
    yield _head(name_width)
    for entry in entries:
        row = f"{RowKind.SERVER}{entry.row}"
        chip = _chip(view, entry, row, twice=entry.row in twice)
        yield Line(_cells(entry, name_width, hidden=view.hides_secrets), chip, row, struck=entry.removed)
        if entry.state is not EntryState.KEPT and not entry.removed:
            yield from problem_lines(view, row, STATE, width)


def _cells(entry: Entry, name_width: int, *, hidden: bool) -> tuple[tuple[Cell, int], ...]:
    """The columns of a server; `name_width` is 0 where there is no room for two columns: details then follow the name.

    `hidden` says that the service tells no secrets of its servers.
    """
    rests = entry.removed or entry.disabled
    name = cell(brief(words.server_name(entry.server)), Tone.MUTED if rests else Tone.PLAIN)
    said = _details(entry)
    details = cell(brief(said), Tone.MUTED) if said else ()
    gap = (GAP,) if details else ()
    rest = ((name, name_width), (details, 0)) if name_width else (((*name, *gap, *details), 0),)
    kind = cell(line(words.server_kind(entry.server)), Tone.MUTED)
    return ((_state(entry), STATE), (kind, KIND), (_key(entry, hidden=hidden), KEY), *rest)


def _banner(more: int) -> Iterator[Line]:
    """How many servers are there again: a server's own file of settings does that."""
    if more:
        said = Shown(f" drops {more} that {'appears' if more == 1 else 'appear'} twice, likely from config.toml")
        yield Line(((((Shown("f2"), Tone.KEY), (said, Tone.WARN)), 0),))


def _head(name_width: int) -> Line:
    titles = [("state", STATE), ("type", KIND), ("key", KEY), ("name or address", name_width)]
    titles += [("details", 0)] if name_width else []
    return Line(tuple((cell(Shown(title), Tone.MUTED), cells) for title, cells in titles))


def _name_width(entries: tuple[Entry, ...], width: int) -> int:
    shared = width - GUTTER - MARGIN - STATE - KIND - KEY
    longest = max(len(name_of(entry.server)) for entry in entries) + 2
    return 0 if shared < LEAST_SHARED else min(max(longest, LEAST_NAME), int(shared * NAME_SHARE))


def _state(entry: Entry) -> Cell:
    """Where it is before the save: on the server, or on this machine only."""
    if entry.was is not None:
        return cell(Shown("on"), Tone.GOOD)
    return cell(Shown("disabled"), Tone.REST) if entry.kept is not None else cell(NOTHING, Tone.MUTED)


def _details(entry: Entry) -> str:
    """Command or time-out, and which members it has that the deck does not know."""
    unknown = sorted((entry.server.model_extra or {}).keys() - OF_THE_LIST)
    return " · ".join(filter(None, (words.server_details(entry.server), ", ".join(unknown))))


def _key(entry: Entry, *, hidden: bool) -> Cell:
    if any(missing(entry.server)):
        return cell(Shown("to type"), Tone.WARN)
    held = words.has_secret(entry.server)
    if hidden and entry.was is not None:
        held |= bool((entry.server.model_extra or {}).get("headers"))
        return cell(Shown("typed" if held else "not told"), Tone.GOOD if held else Tone.MUTED)
    if isinstance(entry.server, StdioServer):
        return cell(NOTHING, Tone.MUTED)
    return cell(Shown("stored" if held else "none"), Tone.PLAIN if held else Tone.MUTED)


def _chip(view: FormView, entry: Entry, row: str, *, twice: bool) -> Cell:
    """What came of a check, and what is wrong or what a save does with it."""
    tried = view.lists.tried(entry)
    said = _stands(view, entry, row, twice=twice)
    if tried is None:
        return said
    return ((line(tried.brief), tried.tone), *((DOT,) if said else ()), *said)


def _stands(view: FormView, entry: Entry, row: str, *, twice: bool) -> Cell:
    problem = view.problems.get(row)
    if problem is not None and problem.stops:
        return cell(Shown("error"), Tone.BAD)
    if (view.arrived or view.contested) and view.is_news(row):
        return cell(Shown("changed on server"), Tone.WARN)
    if entry.state in _CHIPS:
        return (_CHIPS[entry.state],)
    if entry.disabled:
        return cell(Shown("kept here"), Tone.REST)
    if problem is None:
        return ()
    return cell(Shown("twice" if twice else f"{_MEMBERS.get(problem.member, problem.member)}?"), Tone.WARN)
