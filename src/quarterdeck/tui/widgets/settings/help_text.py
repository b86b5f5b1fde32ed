"""What is said about the row under the cursor: its help, what it holds, and who uses it."""

from collections.abc import Iterator

from quarterdeck.draft import limits, words
from quarterdeck.draft.catalogue import BY_KEY
from quarterdeck.draft.draft import MCP
from quarterdeck.draft.field import Control, Field
from quarterdeck.draft.mcp import Entry
from quarterdeck.service.models.mcp import StdioServer
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.settings.cells import brief
from quarterdeck.tui.widgets.settings.view import OTHER_ROW, SERVER_ROW, FormView, server_row

BLANK: Cell = ()


def short_help(view: FormView, row: str) -> Cell:
    """One paragraph for the bottom of a narrow form: what is special about the row comes first."""
    title, help_words = _title_and_help(view, row)
    parts = [cell(title, Tone.STRONG), *_notes(view, row), cell(help_words, Tone.MUTED)]
    return tuple(span for part in parts for span in (*part, (Shown("  "), Tone.PLAIN)))


def full_help(view: FormView, row: str) -> tuple[Cell, ...]:
    """All lines of the side pane, to be wrapped by it."""
    title, help_words = _title_and_help(view, row)
    if not title:
        return ()
    lines: list[Cell] = [cell(title, Tone.STRONG)]
    if row in BY_KEY:
        lines.append(cell(Shown(row), Tone.MUTED))
    lines += [BLANK, cell(help_words)]
    for note in _notes(view, row):
        lines += [BLANK, note]
    facts = tuple(_facts(view, row))
    return (*lines, *((BLANK, *facts) if facts else ()))


def _title_and_help(view: FormView, row: str) -> tuple[Shown, Shown]:
    entry = _server(view, row)
    if entry is not None:
        kind = "Started as a command in the sandbox." if isinstance(entry.server, StdioServer) else ""
        return brief(words.server_title(entry.server)), Shown(kind or "Reached over the network by the agent.")
    if row.startswith(SERVER_ROW):
        return Shown(BY_KEY[MCP].label), Shown(BY_KEY[MCP].help)
    if row.startswith(OTHER_ROW):
        return brief(row.removeprefix(OTHER_ROW)), Shown("A field the deck does not know; a save does not change it.")
    return (Shown(BY_KEY[row].label), Shown(BY_KEY[row].help)) if row in BY_KEY else (Shown(""), Shown(""))


def _notes(view: FormView, row: str) -> Iterator[Cell]:
    problem = view.problem_at(row)
    if problem is not None and not view.is_edited(row):
        yield cell(line(problem.words), Tone.WARN)
    if row in view.contested:
        yield cell(Shown("Someone else changed this too; the review shows both."), Tone.WARN)
    effect = limits.effect(MCP if row.startswith(SERVER_ROW) else row, view.server) if row in BY_KEY else ""
    if effect:
        yield cell(Shown(effect), Tone.REST)


def _facts(view: FormView, row: str) -> Iterator[Cell]:
    entry = _server(view, row)
    if entry is not None:
        yield from _server_facts(entry)
    elif row in BY_KEY:
        yield from _field_facts(view, BY_KEY[row])


def _field_facts(view: FormView, entry: Field) -> Iterator[Cell]:
    if entry.control is not Control.READ_ONLY:
        stored = "nothing stored yet" if view.draft.base is None else words.former(view.draft, entry.key)
        yield _fact("stored", stored)
    if entry.key in view.draft.edits:
        yield _fact("after save", words.change_words(view.draft, entry.key), Tone.EDITED)
    if entry.default:
        yield _fact("default", entry.default)


def _server_facts(entry: Entry) -> Iterator[Cell]:
    server = entry.server
    if isinstance(server, StdioServer):
        yield _fact("command", words.command_line(server))
        for name in server.env:
            yield _fact(name, "••••")
    else:
        yield cell(Shown(words.key_words(server)), Tone.MUTED)
        if words.server_details(server):
            yield cell(brief(words.server_details(server)), Tone.MUTED)
    if entry.was is not None and entry.server != entry.was:
        yield _fact("was", f"{words.server_title(entry.was)} {words.server_details(entry.was)}")


def _fact(name: str, value: str, tone: Tone = Tone.PLAIN) -> Cell:
    return ((line(name), Tone.MUTED), (Shown("  "), Tone.PLAIN), (brief(value), tone))


def _server(view: FormView, row: str) -> Entry | None:
    number = server_row(row)
    return None if number is None else view.draft.servers.entry(number)
