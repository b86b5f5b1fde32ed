"""The help for the row under the cursor: its meaning, its value, and who uses it."""

from collections.abc import Iterator

from quarterdeck.client.models.mcp import StdioServer, own_name
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP
from quarterdeck.settings.fields import Field
from quarterdeck.settings.mcp import Entry
from quarterdeck.settings.review import effect as effect_of
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.form.lines import GAP, brief
from quarterdeck.tui.widgets.form.rows import FormView, Row, RowKind

_HELP = {
    RowKind.SECRET: "Sandboxes get it as a variable. Values are written, never read; changes act at once.",
    RowKind.TOKEN: "What the server signs in to a git provider with. It is written, never read; changes act at once.",
    RowKind.PROFILE: "A stored copy of the LLM settings. enter puts it in use at once, in place of those now stored "
    "and of their key.",
    RowKind.OTHER: "A field the deck does not know; a save does not change it.",
    RowKind.MORE: "Seldom used; those that are set or edited are shown without a search.",
}
"""Help for rows that are neither a field nor an MCP server."""
_SAID = frozenset({"type", "address", "key", "name", "transport"})
"""Parts of a server that its title or another line says."""


def short_help(view: FormView, row: Row) -> Cell:
    """Return one paragraph for the bottom of a narrow form: what is special about the row comes first."""
    called, help_words = _title_and_help(view, row)
    problem = () if view.is_edited(row) else _problem(view, row)  # that of an edit stands below its row
    parts = [cell(called, Tone.STRONG), *problem, *_notes(view, row), cell(help_words, Tone.MUTED)]
    return tuple(span for part in parts for span in (*part, GAP))


def full_help(view: FormView, row: Row) -> tuple[Cell, ...]:
    """Return all lines of the side pane, which wraps them."""
    called, help_words = _title_and_help(view, row)
    if not called:
        return ()
    lines: list[Cell] = [cell(called, Tone.STRONG)]
    if row.field is not None:
        lines.append(cell(brief(row.name), Tone.MUTED))
    lines += [EMPTY, cell(help_words)]
    for note in (*_problem(view, row), *_notes(view, row)):
        lines += [EMPTY, note]
    said = [*_field_facts(view, row, row.field)] if row.field is not None else []
    said += [*_server_facts(view, row.entry)] if row.entry is not None else []
    wide = max((len(name) for (name, _), *_ in said), default=0)
    facts = [((Shown(f"{name:<{wide}}"), tone), *value) for (name, tone), *value in said]
    facts = [*(_to_type_again(view, row.entry) if row.entry is not None else ()), *facts]
    facts += [cell(brief(said)) for said in (row.about, row.stands) if said and row.kind is not RowKind.MORE]
    return (*lines, *((EMPTY, *facts) if facts else ()))


def title(view: FormView, row: Row) -> Shown:
    """Return the name of a row."""
    return _title_and_help(view, row)[0]


def _title_and_help(view: FormView, row: Row) -> tuple[Shown, Shown]:
    if row.entry is not None:
        is_command = isinstance(row.entry.server, StdioServer)
        said = "Started as a command in the sandbox." if is_command else "Reached over the network by the agent."
        if row.entry.disabled and row.entry.was is None:
            said = "Kept on this machine only: no agent has it until it is enabled and saved."
        return brief(words.server_title(row.entry.server)), Shown(said)
    if row.kind in _HELP:
        called = "More fields" if row.kind is RowKind.MORE else row.name or row.group
        return brief(called), Shown(_HELP[row.kind])
    entry = view.draft.field_at(MCP) if row.kind is RowKind.SERVER else row.field
    return (Shown(""), Shown("")) if entry is None else (brief(entry.label), brief(entry.help))


def _problem(view: FormView, row: Row) -> tuple[Cell, ...]:
    problem = view.problems.get(row.id)
    return () if problem is None else (cell(problem.words, Tone.BAD if problem.stops else Tone.WARN),)


def _notes(view: FormView, row: Row) -> Iterator[Cell]:
    if row.id in view.contested:
        yield cell("It was changed elsewhere, too; a save shows both and asks.", Tone.WARN)
    elif view.is_news(row):
        yield cell("It has changed on the server since you loaded it; you see the new value.", Tone.WARN)
    if row.entry is not None and (tried := view.check_of(row.entry)) is not None:
        yield cell(f"Check: {tried.brief.rstrip('…')}.", tried.tone)
    if row.field is None:
        return
    if row.field.absent:
        yield cell(brief(row.field.absent), Tone.WARN)
    off = view.draft.off_for(row.name)
    if off is not None:
        is_set = view.draft.value(off.key) is not None
        now = words.after_save(view.draft, off.key) if is_set else off.default or words.NOT_SET
        yield cell(brief(f"It has no effect while {off.label} is {now}; its value is kept."), Tone.REST)
    effect = effect_of(row.name, view.server)
    if effect:
        yield cell(effect, Tone.REST)


def _field_facts(view: FormView, row: Row, entry: Field) -> Iterator[Cell]:
    if not entry.absent:
        yield _fact(
            "value" if entry.secret else "loaded" if row.id in view.contested else "stored",
            "nothing yet" if view.draft.base is None else words.former(view.draft, entry.key),
        )
    if entry.key in view.draft.edits:
        yield _fact("after save", words.after_save(view.draft, entry.key), Tone.EDITED)
    if entry.default:
        yield _fact("default", entry.default)


def _to_type_again(view: FormView, entry: Entry) -> Iterator[Cell]:
    if view.hides_secrets and entry.was is not None and not words.has_secret(entry.server):
        yield cell("This service tells no key and no variable of it, and loses them when MCP servers are saved.")
        yield cell("Type them again (enter) to keep them.", Tone.MUTED)


def _server_facts(view: FormView, entry: Entry) -> Iterator[Cell]:
    server = entry.server
    if not isinstance(server, StdioServer):
        yield _fact("key", words.entry_key_words(entry, hidden=view.hides_secrets))
        if name := own_name(server):
            yield _fact("name", name)
    for part, (shown, _) in words.parts(server).items():
        if part not in _SAID:
            yield _fact(part, shown or "••••")
    if entry.was is not None and server != entry.was:
        yield _fact("was", f"{words.server_title(entry.was)} {words.server_details(entry.was)}")


def _fact(name: str, value: str, tone: Tone = Tone.PLAIN) -> Cell:
    return ((line(name), Tone.MUTED), GAP, (brief(value), tone))
