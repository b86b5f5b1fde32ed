"""Saving the settings without loss: read again, merge, review, send, read back, verify.

It uses a store and callbacks that answer questions, and knows no widgets and no network.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.mcp import LISTS
from quarterdeck.client.nested_mcp import named
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.settings.draft import MCP, TOKENS, Draft
from quarterdeck.settings.fields import Problem
from quarterdeck.settings.kept import DisabledServers, Journal
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.merge import Conflict, Side, changed, merge, settle
from quarterdeck.settings.review import Review, lost_by, review
from quarterdeck.settings.typed_secrets import RememberingStore
from quarterdeck.settings.verify import Verified, verify
from quarterdeck.settings.words import few

TRIES = 3
"""How many times a save is tried while the server says that somebody else was faster."""
LOST_KEYS = "Keys and hidden values, if there were any, of the MCP servers"
HERE = "Done on this machine; the server is not involved."
SAYS = "The server says: "
"""How a server's words about one field begin."""


@dataclass(frozen=True)
class Caller:
    """The callbacks of a save: decisions, in which None or False means to stop, and storing on this machine."""

    settle: Callable[[Conflict], Awaitable[Side | None]]
    agree: Callable[[Review, PreparedRequest | None, str], Awaitable[bool]]
    """Asks whether to send, if there is a request; the third argument says why it asks again, empty at first."""
    note: Callable[[Callable[[Journal], Journal]], Awaitable[Journal]]
    """Stores on this machine, and returns, what is made of the journal of saves; may raise ServiceError."""
    keep: Callable[[Callable[[DisabledServers], DisabledServers]], Awaitable[DisabledServers]]
    """The same with the disabled servers."""
    clock: Callable[[], datetime]
    sending: Callable[[], AbstractContextManager[None]] = nullcontext
    """A context that is entered while a request is under way and its outcome is unknown."""
    tell: Callable[[str], None] = lambda step: None
    """Is called with each step in words."""


@dataclass(frozen=True)
class SaveResult:
    """The result of a save: the draft to continue with, and the message."""

    draft: Draft
    words: str
    saved: bool = False
    error: bool = False
    meant: Draft | None = None
    """The draft that was agreed to and is or may be stored; None if certainly nothing was."""
    seen: Verified | None = None
    """The comparison with the record that was read back."""
    complaints: tuple[Problem, ...] = ()


async def save(draft: Draft, store: RememberingStore, caller: Caller) -> SaveResult:
    """Save a draft: all changes are verified as stored, or the edits are kept."""
    tries, refused = 0, None
    while True:
        tries += 1
        try:
            draft, may_go_on = await _agree(draft, store, caller, refused)
            if not may_go_on:
                return SaveResult(draft, "Not saved; your edits are kept.")
            if not draft.edited:
                return SaveResult(draft, "It is stored already; nothing was sent.", saved=True)
            with caller.sending():
                return await _keep_and_send(draft, store, caller)
        except ServiceError as error:
            if error.kind is not ErrorKind.CONFLICT or tries == TRIES:
                return _failed(draft, error)
            refused = error


async def _keep_and_send(meant: Draft, store: RememberingStore, caller: Caller) -> SaveResult:
    """Keep disabled servers here, and send the rest; raises ServiceError if nothing was done."""
    entries = meant.servers.entries
    new = [entry for entry in entries if entry.disabled and not entry.removed and entry.server != entry.kept]
    added, replaced = [entry.server for entry in new], [entry.kept for entry in new if entry.kept is not None]
    gone = [entry.kept for entry in entries if entry.kept is not None and (entry.removed or not entry.disabled)]
    if not (added or gone):
        return await _send(meant, store, caller)
    give_back = partial(DisabledServers.with_replaced, gone=added, new=replaced)
    await caller.keep(partial(DisabledServers.with_replaced, gone=replaced, new=added))
    try:
        result = await _send(meant, store, caller)
    except ServiceError:
        await caller.keep(give_back)
        raise
    try:
        if result.meant is None:
            await caller.keep(give_back)
        elif result.saved:
            kept = (await caller.keep(partial(DisabledServers.with_replaced, gone=gone, new=()))).servers
            stored = merge(meant, result.draft.base, kept).draft  # by what was meant, each server keeps its row
            return replace(result, draft=replace(stored, edits=result.draft.edits, past=(), future=()))
    except ServiceError as error:
        return replace(result, words=f"{result.words} · {error.words}", error=True)
    return result


async def _send(meant: Draft, store: RememberingStore, caller: Caller) -> SaveResult:
    """Send the changes and read back; raises ServiceError if nothing was done.

    The journal has the save before it is sent, because the program may end before the answer comes.
    """
    when = caller.clock()
    if not meant.changes:
        result = SaveResult(replace(meant, edits={}, past=(), future=()), HERE, saved=True, meant=meant)
        return await _noted(result, caller, partial(Journal.with_save, meant=meant, found=meant.base, when=when))
    secrets, lost = None, None
    losing = lost_by(meant, store.client.server)
    if any(loss.field == TOKENS for loss in losing):
        secrets = await store.secret_names()
    forget = partial(Journal.without_save, when=when)
    lost_too = tuple(f"{LOST_KEYS} {few(loss.parts)}" for loss in losing if loss.field == MCP)
    noting = partial(Journal.with_save, meant=meant, when=when, lost=lost_too)
    with suppress(ServiceError):  # told after the save, when it is noted again
        await caller.note(partial(noting, found=None))
    caller.tell("Saving…")
    try:
        await store.store(meant.base, meant.changes)
    except ServiceError as error:
        if error.outcome is not Outcome.UNKNOWN:
            with suppress(ServiceError):  # an unsure save that is not stored does not count
                await caller.note(forget)
            raise
        lost = error
    caller.tell("Reading back…" if lost is None else "Unknown whether it was stored; reading back…")
    result = await _read_back(meant, store, secrets, lost)
    found = None if result.seen is None else result.seen.remaining.base
    return await _noted(result, caller, forget if result.meant is None else partial(noting, found=found))


async def _noted(result: SaveResult, caller: Caller, noting: Callable[[Journal], Journal]) -> SaveResult:
    """Return the result of a save once the journal has it, or says that it cannot be undone."""
    try:
        await caller.note(noting)
    except ServiceError as error:
        return replace(result, words=f"{result.words} · This save cannot be undone: {error.words}", error=True)
    return result


async def _agree(
    draft: Draft, store: RememberingStore, caller: Caller, refused: ServiceError | None
) -> tuple[Draft, bool]:
    """Return (merged draft, whether to continue): asks until exactly what was agreed to will be sent."""
    agreed: Draft | None = None
    while True:
        caller.tell("Reading what is stored now…")
        kept_here = None
        if MCP in draft.edits and (draft.disabled or draft.servers.to_keep_here):
            kept_here = (await caller.keep(lambda kept: kept)).servers  # another deck may have changed it
        merged = merge(draft, await store.load(), kept_here)
        before, draft = draft, merged.draft
        for conflict in merged.conflicts:
            side = await caller.settle(conflict)
            if side is None:
                return before, False
            draft = settle(draft, conflict, side)
        same = agreed is not None and (agreed.base, agreed.edits) == (draft.base, draft.edits)
        if same or not draft.edited:
            return draft, True
        request = store.client.settings.preview(draft.base, draft.changes) if draft.changes else None
        caller.tell("In review")
        moved = ", ".join(draft.field_at(key).label for key in changed(before, draft))
        why = _why(refused, moved, again=agreed is not None)
        if not await caller.agree(review(draft, store.client.server), request, why):
            return draft, False
        agreed = draft


def _why(refused: ServiceError | None, changed: str, *, again: bool) -> str:
    """Return why a review is shown again: the error of the server, and what has changed."""
    if refused is not None:
        moved = f"Changed there meanwhile: {changed}." if changed else "No setting that can be read there has changed."
        return f"Not saved: {refused.words} {moved}"
    if not again:
        return ""
    return f"Something has changed since you last looked{f': {changed}' if changed else ''}."


async def _read_back(
    meant: Draft, store: RememberingStore, secrets: frozenset[str] | None, lost: ServiceError | None
) -> SaveResult:
    """Return the result of a request after reading back; `secrets` are the earlier custom secrets, `lost` the error."""
    try:
        found = await store.load()
        left = await store.secret_names() if secrets else None
    except ServiceError as error:
        known = "Stored, but not verified" if lost is None else "Unknown whether it was stored"
        words = f"{known}: {error.words} Save again to see."
        return SaveResult(meant, words, error=True, meant=meant)
    losing = lost_by(meant, store.client.server)
    gone = {key for loss in losing if loss.certain for key in (loss.field, *loss.parts)}
    seen = verify(
        meant,
        found,
        accepted=lost is None,
        gone=gone,
        secrets_gone=() if secrets is None or left is None else secrets - left,
    )
    if lost is not None and seen.untouched and lost.status is not None:
        return SaveResult(seen.remaining, f"It was not stored: {lost.cause}", error=True)
    if lost is not None and seen.untouched:
        words = f"Not stored so far, but it still may be: {lost.cause} Read again to see."
        return SaveResult(seen.remaining, words, error=True, meant=meant)
    words = _words(seen) if not seen.not_known else _not_known(seen, lost)
    return SaveResult(seen.remaining, words, saved=seen.stored, error=not seen.stored, meant=meant, seen=seen)


def _words(seen: Verified) -> str:
    if seen.stored:
        return f"Saved · {seen.counted}{_back(seen)}"
    first = seen.differences[0]
    more = f" and {len(seen.differences) - 1} more" if len(seen.differences) > 1 else ""
    if not any(difference.asked for difference in seen.differences):
        return f"Saved · {seen.counted}, but something else changed as well: {first.label} is {first.found}{more}"
    return f"Saved, but only {seen.counted}: {first.label} is {first.found}{more}"


def _not_known(seen: Verified, lost: ServiceError | None) -> str:
    """Return a sentence about secrets that no reading can verify, and what can be done."""
    labels = ", ".join(unproven.label for unproven in seen.not_known)
    why = f" {lost.cause}" if lost is not None else ""
    rest = f" ({seen.counted})" if seen.readable else ""
    return f"Not known whether it is stored: {labels}.{why} Save it again.{rest}"


def _back(seen: Verified) -> str:
    if not seen.returned:
        return ""
    copies = "1 copy is" if len(seen.returned) == 1 else f"{len(seen.returned)} copies are"
    return f", {copies} back: the server's config.toml adds it"


def _failed(draft: Draft, error: ServiceError) -> SaveResult:
    placed = (complaint(draft, problem.location, problem.message) for problem in error.problems)
    complaints = tuple(problem for problem in placed if problem is not None)
    words = f"Not saved: {error.sentences}".strip()
    return SaveResult(draft, words, error=True, complaints=complaints)


def complaint(draft: Draft, location: Sequence[str | int], message: str) -> Problem | None:
    """Return a problem at `location`, which is the server's `loc` without "body"; None for an unknown field."""
    key, *place = location or ("",)
    if key not in draft.fields.by_key:
        return None
    if key != MCP:
        return Problem(f"{SAYS}{message}", key=str(key))
    *_, last = place or ("",)
    named = f"{last}: " if isinstance(last, str) and len(place) > 1 else ""
    member = "".join(map(str, place[2:3] if place[:1] and place[0] in LISTS else place[1:2]))
    return Problem(f"{SAYS}{named}{message}", key=MCP, row=_row(draft.servers, place), member=member)


def _row(servers: Servers, place: Sequence[str | int]) -> int | None:
    """Return the row for a place in what was sent: in one of the three lists, or in a map by name."""
    sent = {name: [entry.row for entry in servers.remaining if isinstance(entry.server, LISTS[name])] for name in LISTS}
    match place:
        case (str(name), int(number), *_) if name in LISTS:
            return sent[name][number] if 0 <= number < len(sent[name]) else None
        case (str(name), *_):
            names = [name for name, _ in named(servers.config())]
            return dict(zip(names, chain(*sent.values()), strict=True)).get(name)
    return None
