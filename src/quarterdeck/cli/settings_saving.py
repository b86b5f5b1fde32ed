"""Saving settings from a command: the deck's own save, agreed to by what the command line says."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import utc_now
from quarterdeck.cli.output import CommandError, as_json, note, say
from quarterdeck.cli.target import choose
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.server import Server
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.config.connections import Connection
from quarterdeck.config.load import Config
from quarterdeck.settings import journal
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import Line, Review, problems
from quarterdeck.settings.save import Questions, SaveResult, save
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from quarterdeck.settings.verify import ADDED_AGAIN, Verified
from quarterdeck.tui.kept_state import KeptState


async def save_and_report(client: Client, server: Server, draft: Draft, arguments: CommandLine, config: Config) -> int:
    """Save a draft and print what became of it; gives the exit status, 0 only where all changes were read back.

    Raises CommandError (status 2 for a value that this server does not take) and ServiceError.
    """
    if stops := [problem for problem in problems(draft, server) if problem.stops]:
        raise CommandError(" ".join(f"{problem.key}: {problem.words}" for problem in stops), status=2)

    async def agree(review: Review, request: PreparedRequest | None, why: str) -> bool:
        if arguments.dry_run:
            _plan(review, as_data=arguments.json)
        else:
            _warn(review, accept_losses=arguments.accept_losses)
        return not arguments.dry_run

    store = RememberingStore(client, TypedSecrets())
    result = await save(draft, store, server, Questions(_give_up, agree), lambda step: None)
    if result.meant is not None and result.meant.changes:
        await _note_down(result.meant, result, server, config, choose(arguments, config, os.environ).connection)
    if arguments.dry_run and not result.saved and not result.error:
        return 0
    if result.meant is None and result.error:
        raise CommandError(" ".join((result.words, *(f"{each.key}: {each.words}" for each in result.complaints))))
    return _report(result, as_data=arguments.json)


async def _give_up(conflicts: Sequence[Conflict]) -> Sequence[Side] | None:
    """Somebody changes the same settings at this very moment; raises CommandError."""
    fields = ", ".join(dict.fromkeys(conflict.key for conflict in conflicts))
    raise CommandError(f"Somebody else changes {fields} right now; nothing was saved.", "Run it again.")


def _warn(review: Review, *, accept_losses: bool) -> None:
    """Say what a save loses, and what is odd; raises CommandError (status 2) for MCP secrets that would go unasked."""
    for loss in review.losses:
        note(f"this save loses something: {loss.words}")
    for problem in review.warnings:
        note(f"{problem.key}: {problem.words}")
    if any(loss.key == MCP for loss in review.losses) and not accept_losses:
        advice = "Give their secrets too, or add --accept-losses."
        raise CommandError("Nothing was saved, for MCP servers would lose their secrets.", advice, status=2)


async def _note_down(meant: Draft, result: SaveResult, server: Server, config: Config, endpoint: Connection) -> None:
    """Note the save in the journal that the deck and `settings undo` go by."""
    saved = journal.saved_of(meant, result.found, utc_now(), server.release or "")
    try:
        state = KeptState(config.folders.kept)
        await state.change(journal.Journal, endpoint.about, lambda kept: journal.with_save(kept, saved))
    except ServiceError as error:
        note(f"this save cannot be undone later: {error.words}")


def _report(result: SaveResult, *, as_data: bool) -> int:
    seen = result.seen or Verified(0)
    if as_data:
        differences = {each.key: {"meant": each.meant, "found": each.found} for each in seen.differences}
        counts = {"asked": seen.asked, "verified": seen.good, "accepted": len(seen.accepted)}
        as_json({**counts, "not_known": [each.key for each in seen.not_known], "differences": differences})
    else:
        say(_outcome(result, seen))
        for each in seen.differences:
            note(f"{each.key}: meant {each.meant}, but the server holds {each.found}.")
        for title in seen.returned:
            note(f"{title}: a copy was deleted and is back. {ADDED_AGAIN}")
    if result.error and not seen.differences:
        note(result.words)
    return 0 if result.saved and not seen.returned else 1


def _outcome(result: SaveResult, seen: Verified) -> str:
    if result.meant is None:
        return "nothing to change: stored already"
    return seen.counted if seen.accepted else f"{seen.good} of {seen.asked} changes verified"


def _plan(review: Review, *, as_data: bool) -> None:
    if as_data:
        as_json(
            {
                "changes": [_change(line) for line in review.lines],
                "losses": [loss.words for loss in review.losses],
                "warnings": [f"{problem.key}: {problem.words}" for problem in review.warnings],
            }
        )
        return
    for words in _plan_lines(review):
        say(words)


def _plan_lines(review: Review) -> Iterable[str]:
    yield from (f"loses: {loss.words}" for loss in review.losses)
    for line in review.lines:
        change = " -> ".join(part for part in (line.old, line.new) if part)
        yield ": ".join(part for part in (line.act, line.label, change) if part) + (f" ({line.note})" * bool(line.note))
    yield from (f"note: {problem.key}: {problem.words}" for problem in review.warnings)
    yield "Nothing was sent."


def _change(line: Line) -> dict[str, Any]:
    return {"act": str(line.act), "what": line.place or line.label, "old": line.old, "new": line.new, "note": line.note}
