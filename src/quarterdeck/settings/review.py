"""What a save will do, shown before it is sent: losses first, then each change, without secrets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import Loss, Settings
from quarterdeck.client.nested import AGENT, AGENT_KIND, CONDENSER_KIND, PLACES
from quarterdeck.client.settings import losses as client_losses
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, TOKENS, Draft
from quarterdeck.settings.fields import Field, Group, Problem
from quarterdeck.settings.mcp import Entry, EntryState
from quarterdeck.settings.mcp_server import bare, filled, missing, typed_anew
from quarterdeck.settings.words import differences, parts

_NOT_OF_CONVERSATIONS = (Group.INTERFACE, Group.PRIVACY)


SESSIONS_ONLY = "Used by V0 sessions only."


def effect(key: str, server: Server | None) -> str:
    """Return why an edit of a field may have no effect here; empty if conversations use it."""
    if server is None or server.rules(key).in_effect:
        return ""
    return "Stored only: this local service runs no agent." if server.local else SESSIONS_ONLY


def effect_word(entry: Field, server: Server | None) -> str:
    """Return one or two words for a setting that this server's conversations do not use; empty for the others."""
    if server is None or entry.absent or entry.group == Group.PRIVACY:
        return ""
    if entry.group == Group.INTERFACE:
        return "web only"
    return "V0 only" if effect(entry.key, server) == SESSIONS_ONLY else ""


def until_when(draft: Draft, server: Server, running: int) -> str:
    """Return who uses what was saved, as the end of a sentence; empty if no conversation does."""
    if server.local or not any(_is_used(draft.field_at(key), server) for key in draft.changes):
        return ""
    keep = f"; {running} running {'keeps' if running == 1 else 'keep'} the old values" if running else ""
    return f"new conversations only{keep}"


def _is_used(entry: Field, server: Server) -> bool:
    return entry.key == MCP or (entry.group not in _NOT_OF_CONVERSATIONS and not effect(entry.key, server))


ALWAYS_SET = "This server keeps the stored value when it is cleared; replace it instead."
UNKNOWN = "this server's release is not known, and a save may erase what it does not tell."


def refusals(draft: Draft, server: Server) -> Iterator[Problem]:
    """Yield the edits that this server would not store."""
    for key, value in draft.edits.items():
        entry = draft.field_at(key)
        if entry.absent:
            yield _at(draft, key, f"{entry.absent} u drops the edit.")
        elif AGENT_KIND in draft.edits and _goes_with_kind(key):
            yield _at(draft, key, "It belongs to the old kind of agent: save the new kind first, or drop this edit.")
        if value is None and not server.rules(key).clearable:
            yield Problem(ALWAYS_SET, key=key)


def problems(draft: Draft, server: Server | None) -> tuple[Problem, ...]:
    """Return all problems of a draft, including those with this server."""
    return (*draft.problems, *(refusals(draft, server) if server else ()))


def losses(draft: Draft, server: Server) -> Iterator[Problem]:
    """Yield stored values that a save removes without being asked to, unless they are typed again."""
    for lost in lost_by(draft, server):
        if lost.field == CONDENSER_KIND and not any(_own_values(draft, lost)):
            continue
        yield Problem(_loss_words(draft, lost), key=lost.field)
    if server.nested:
        yield from _lost_by_disabling(draft)


def lost_by(draft: Draft, server: Server) -> tuple[Loss, ...]:
    """Return what a save loses beside its changes; of MCP servers also what only their rows tell."""
    found = client_losses(draft.base, draft.changes, server)
    renamed = tuple(_renamed(draft)) if server.nested else ()
    if not renamed:
        return found
    of_servers = next((loss for loss in found if loss.field == MCP), Loss(MCP, certain=True))
    others = (loss for loss in found if loss.field != MCP)
    return (*others, of_servers._replace(parts=(*of_servers.parts, *renamed)))


def _renamed(draft: Draft) -> Iterator[str]:
    """Yield the MCP servers whose name and command are new: by their old ones the client does not find them."""
    for was, now in ((entry.was, entry.server) for entry in draft.servers.edited if entry.stays):
        if not (isinstance(was, StdioServer) and isinstance(now, StdioServer)) or words.holds_secret(was):
            continue
        if was.name != now.name and (was.command, was.args) != (now.command, now.args):
            yield now.name


def _loss_words(draft: Draft, lost: Loss) -> str:
    """Return what is lost, why, and what can be done."""
    if lost.field == AGENT_KIND:
        return (
            f"Agent kind: with {draft.was(AGENT_KIND)} go all settings of its agents, "
            "such as model, keys, condenser and MCP servers."
        )
    if lost.field == CONDENSER_KIND:
        gone = ", ".join(f"{draft.field_at(key).label} {words.former(draft, key)}" for key in _own_values(draft, lost))
        return f"{draft.field_at(lost.field).label}: with {draft.was(lost.field)} go its settings: {gone}."
    if lost.field == MCP:
        servers, its, it_has = ("MCP server", "its key", "it has")
        if len(lost.parts) > 1:
            servers, its, it_has = ("MCP servers", "their keys", "they have")
        return f"{servers} {words.few(lost.parts)}: {its} and hidden values, if {it_has} any that are not given again."
    if lost.field == TOKENS:
        tokens = f"Git tokens ({', '.join(lost.parts)})" if lost.parts else "Git tokens"
        return f"{tokens} and custom secrets: {UNKNOWN} Set them again afterwards."
    label = draft.field_at(lost.field).label
    if lost.field == "llm_base_url":
        was = words.former(draft, lost.field)
        return f"{label}: {was} is cleared with the old model's provider."
    if lost.certain:
        return f"{label}: if one is stored, this save erases it, for this server neither tells nor keeps it."
    return f"{label}: {UNKNOWN}"


def _own_values(draft: Draft, lost: Loss) -> Iterator[str]:
    """Return the settings among those lost that do not have the server's default."""
    described = (key for key in lost.parts if key in draft.fields.by_key)
    return (key for key in described if draft.was(key) != draft.field_at(key).unset_to)


def _lost_by_disabling(draft: Draft) -> Iterator[Problem]:
    """Yield what is lost of disabled MCP servers, if the server returns no secrets."""
    for entry in draft.servers.edited:
        if entry.state is EntryState.DISABLED and entry.was is not None and not words.holds_secret(entry.was):
            yield Problem(
                f"{words.server_title(entry.server)}: this server does not tell its key and hidden values, "
                "so only those typed are kept here. Type them first, or when it is used again.",
                key=MCP,
            )


def _goes_with_kind(key: str) -> bool:
    return key != AGENT_KIND and _place(key).startswith(f"{AGENT}.")


def _place(key: str) -> str:
    return PLACES.get(key, key)


def _at(draft: Draft, key: str, sentence: str) -> Problem:
    """Return a problem of an edit; for MCP servers, at the first edited one."""
    rows = (entry.row for entry in draft.servers.edited) if key == MCP else ()
    return Problem(sentence, key=key, row=next(iter(rows), None))


SET, UNSET = "set", "unset"
KEPT_HERE = "kept on this machine"
ON_SERVICE = "on the service"
EQUAL_STAYS = "An equal one stays."
WITHOUT_SECRETS = "An undo brings it back without secrets."
COMES_BACK = "Where the server's own config.toml has it, the server adds it again."
WITH_SECRETS = "The secrets it has now go into a private file on this machine."
HERE_ONLY = "Kept on this machine only; the server is not asked."


@dataclass(frozen=True)
class ReviewLine:
    """One change. All texts are raw; `note` says why it may have no effect."""

    act: str
    """`SET` or `UNSET`, or the state of an MCP server's row."""
    label: str
    old: str
    new: str
    note: str = ""
    place: str = ""
    """The dotted place of a setting that only the server describes."""


@dataclass(frozen=True)
class Review:
    """Everything to know before a save."""

    losses: tuple[Problem, ...]
    lines: tuple[ReviewLine, ...]
    warnings: tuple[str, ...]

    @property
    def to_give_again(self) -> tuple[str, ...]:
        """The keys of the settings that are lost unless the same save gives them again."""
        return tuple(loss.key for loss in self.losses if loss.key not in (AGENT_KIND, CONDENSER_KIND, MCP, TOKENS))


def review(draft: Draft, server: Server) -> Review:
    """Describe the save of a draft on a server."""
    return Review(
        tuple(losses(draft, server)) if draft.changes else (),
        tuple(lines(draft, server)),
        tuple(_warnings(draft)),
    )


def _warnings(draft: Draft) -> Iterator[str]:
    yield from filter(None, (_warning(draft, problem) for problem in draft.problems if not problem.stops))
    active = None if draft.base is None else draft.base.active_profile
    if active is not None and any(_place(key).startswith(f"{AGENT}.llm.") for key in draft.edits):
        yield f"The LLM profile {active} is not the active one then, nor after an undo, until it is activated again."


def no_longer_active(before: Settings | None, after: Settings | None) -> str:
    """Return a sentence about the profile that a save has made inactive; empty if it has not."""
    was, active = (None if record is None else record.active_profile for record in (before, after))
    gone = was is not None and active is None
    return f"The profile {was} is not active any more; enter at it puts it in use again." if gone else ""


def _warning(draft: Draft, problem: Problem) -> str:
    """Return a warning with the label of its field, or the name of its MCP server; empty for what is not edited."""
    if problem.row is None:
        return f"{draft.field_at(problem.key).label}: {problem.words}" if problem.key in draft.edits else ""
    entry = draft.servers.entry(problem.row)
    return f"{words.server_title(entry.server)}: {problem.words}" if entry is not None and entry.edited else ""


def lines(draft: Draft, server: Server | None = None) -> Iterator[ReviewLine]:
    """Yield each change of a draft, in the order of the form."""
    for key in (entry for entry in draft.fields.by_key if entry in draft.edits):
        if key == MCP:
            yield from _server_lines(draft, server)
            continue
        act = UNSET if draft.edits[key] is None else SET
        entry, new = draft.field_at(key), words.after_save(draft, key)
        place = key if entry.described else ""
        yield ReviewLine(act, entry.label, words.former(draft, key), new, effect(key, server), place)


def _server_lines(draft: Draft, server: Server | None) -> Iterator[ReviewLine]:
    """Yield the change of each MCP server; of one that goes, what becomes of its secrets and of an equal one."""
    equals = {row: group for group in draft.stored_servers.duplicates for row in group}
    staying = {entry.row for entry in draft.servers.entries if not entry.edited}
    added_again = [] if server is not None and server.local else [COMES_BACK]
    for entry in draft.servers.edited:
        group = equals.get(entry.row, ())
        stays = [] if staying.isdisjoint(group) else [EQUAL_STAYS]
        stripped = [WITHOUT_SECRETS] if (server and server.nested) or typed_anew(entry.server, None) else []
        yield _server_line(entry, [*stays, *(added_again if group else ()), *stripped])


_SAID = frozenset({"name", "command", "type", "address", "time-out"})
"""Parts of a server that its title and its details say."""


def _server_line(entry: Entry, if_removed: Sequence[str]) -> ReviewLine:
    before, server, state = entry.before or entry.server, entry.server, entry.state
    if state is EntryState.ADDED:
        others = [f"{name} {shown}".strip() for name, (shown, _) in parts(server).items() if name not in _SAID]
        old, new = [], [words.server_details(server), f"with {', '.join(others)}" if others else ""]
    elif state is EntryState.REMOVED:
        old, new = [words.server_details(before)], []
    else:
        old, new = differences(before, filled(server, before))
    if state is EntryState.ENABLED:
        old, new = [KEPT_HERE, *old], [ON_SERVICE, *new]
    elif state is EntryState.DISABLED:
        old, new = [ON_SERVICE, *old] if entry.was is not None else [], [KEPT_HERE, *new]
    notes = [HERE_ONLY] if entry.local and state is not EntryState.DISABLED else []
    if entry.removed:
        notes += if_removed
    elif entry.disabled:
        notes += [WITH_SECRETS] if bare(server) != server else []
        hidden = ", ".join(missing(server))
        notes += [f"To be typed again when it is used: {hidden}."] if hidden else []
    old_words, new_words = (", ".join(filter(None, said)) for said in (old, new))
    return ReviewLine(state, words.server_title(before), old_words, new_words, " ".join(notes))
