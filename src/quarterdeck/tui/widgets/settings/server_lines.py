"""The MCP servers as a table: one look for the three transports, in columns that the width decides."""

from collections.abc import Iterator
from dataclasses import dataclass

from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP
from quarterdeck.settings.mcp import Entry, EntryState, duplicates
from quarterdeck.settings.mcp_server import missing, name_of
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.settings.cells import NOTHING, brief
from quarterdeck.tui.widgets.settings.lines import GUTTER, MARGIN, Line, problem_lines
from quarterdeck.tui.widgets.settings.rows import RowKind
from quarterdeck.tui.widgets.settings.view import FormView

STATE, KIND, KEY = 7, 6, 9
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
    EntryState.DISABLED: (Shown("will be parked"), Tone.WARN),
    EntryState.ENABLED: (Shown("will be stored again"), Tone.EDITED),
}

_MEMBERS = {"": "entry", "url": "address", "api_key": "key", "args": "arguments", "env": "variables"}
"""The word for a member that something is wrong with."""
GAP = (Shown("  "), Tone.PLAIN)


@dataclass(frozen=True, slots=True)
class ServerLine(Line):
    """The line of one server, whose texts are made only when it is painted."""

    entry: Entry | None = None
    name_width: int = 0
    """0 where there is no room for two columns: details then follow the name."""
    hides_secrets: bool = False

    def drawn(self) -> Line:
        """The line with its cells."""
        if self.entry is None:
            return self
        server, muted = self.entry.server, Tone.MUTED
        rests = self.entry.removed or self.entry.disabled
        name = cell(brief(words.server_name(server)), muted if rests else Tone.PLAIN)
        said = _details(self.entry)
        details = cell(brief(said), muted) if said else ()
        gap = (GAP,) if details else ()
        rest = ((name, self.name_width), (details, 0)) if self.name_width else (((*name, *gap, *details), 0),)
        state, key = _state(self.entry), _key(self.entry, hidden=self.hides_secrets)
        kind = cell(line(words.server_kind(server)), muted)
        return Line(((state, STATE), (kind, KIND), (key, KEY), *rest), self.chip, self.row, struck=self.struck)


def server_lines(view: FormView, width: int) -> Iterator[Line]:
    """The head of the table, the banner on servers that are there twice, and the servers."""
    entries = tuple(view.servers()) if view.query else view.draft.servers.entries
    if not entries:
        if not view.query:
            said: Cell = (
                (Shown("None yet. "), Tone.MUTED),
                (Shown("a"), Tone.KEY),
                (Shown(" adds one, "), Tone.MUTED),
                (Shown("i"), Tone.KEY),
                (Shown(" takes pasted JSON."), Tone.MUTED),
            )
            yield Line(((said, 0),), row=RowKind.SERVER)
        return
    name_width = _name_width(entries, width)
    groups = () if view.query else duplicates(view.draft.servers)
    twice = frozenset(row for group in groups for row in group)
    yield from _banner(groups)
    yield _head(name_width)
    for entry in entries:
        row = f"{RowKind.SERVER}{entry.row}"
        yield ServerLine(
            chip=_chip(view, entry, twice=entry.row in twice),
            row=row,
            struck=entry.removed,
            entry=entry,
            name_width=name_width,
            hides_secrets=view.hides_secrets,
        )
        if entry.state is not EntryState.KEPT and not entry.removed:
            yield from problem_lines(view, row, STATE, width)


def _banner(groups: tuple[tuple[int, ...], ...]) -> Iterator[Line]:
    """How many servers are there again: a server's own file of settings does that (needs.md fact 0.6)."""
    more = sum(len(group) - 1 for group in groups)
    if more:
        said = f" folds {more} {'entry' if more == 1 else 'entries'} that appear{'s' if more == 1 else ''} twice"
        why = Shown(", likely from the server's config.toml")
        cells: Cell = ((Shown("F"), Tone.KEY), (Shown(said), Tone.WARN), (why, Tone.MUTED))
        yield Line(((cells, 0),))


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
    return cell(Shown("parked"), Tone.REST) if entry.kept is not None else cell(NOTHING, Tone.MUTED)


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


def _chip(view: FormView, entry: Entry, *, twice: bool) -> Cell:
    """What came of a check, what is wrong, and what a save does with it."""
    tried = view.lists.tried(entry)
    parts = [] if tried is None else [(line(tried.brief), tried.tone)]
    problem = view.problems.get((MCP, entry.row))
    if problem is not None and problem.stops:
        parts.append((Shown("error"), Tone.BAD))
    elif (view.arrived or view.contested) and view.is_news(f"{RowKind.SERVER}{entry.row}"):
        parts.append((Shown("changed on server"), Tone.WARN))
    elif entry.state in _CHIPS:
        parts.append(_CHIPS[entry.state])
    elif entry.disabled:
        parts.append((Shown("kept here"), Tone.REST))
    elif problem is not None:
        said = "twice" if twice else f"{_MEMBERS.get(problem.member, problem.member)}?"
        parts.append((Shown(said), Tone.WARN))
    if len(parts) < 2:
        return tuple(parts)
    return (parts[0], (Shown(" · "), Tone.MUTED), parts[1])
