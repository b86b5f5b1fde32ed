"""`quarterdeck settings set`, `import` and `undo`: the deck's own save, agreed to by what the command line says."""

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import utc_now, with_client
from quarterdeck.cli.output import FROM_INPUT, CommandError, as_json, from_input, note, say
from quarterdeck.cli.settings import read_draft
from quarterdeck.cli.target import choose
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.mcp import McpConfig, listed
from quarterdeck.client.models.server import Server
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.config.connections import Connection
from quarterdeck.config.load import Config
from quarterdeck.settings import files as settings_files
from quarterdeck.settings.catalogue import BY_KEY
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field
from quarterdeck.settings.kept import Journal, last, undone, with_save
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import identities
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import Line, Review, problems
from quarterdeck.settings.save import Questions, SaveResult, save
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from quarterdeck.settings.verify import ADDED_AGAIN, Verified
from quarterdeck.tui import files
from quarterdeck.tui.kept_state import KeptState

Assignment = tuple[str, str]
_WORDS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


def change(arguments: CommandLine, config: Config) -> int:
    """Store the changes; 0 only when all of them were read back."""
    assignments = _typed(arguments.assignments)

    async def edit(draft: Draft) -> Draft:
        for key, text in arguments.assignments:
            _refuse_seen_secret(_field(draft.fields.by_key.get(key), key), text)
        return _edited(draft, assignments)

    return _change(arguments, config, edit)


def take(arguments: CommandLine, config: Config) -> int:
    """Store what the file holds; 0 only when all of it was read back."""
    try:
        from_file = arguments.file not in (None, FROM_INPUT)
        text = files.read(Path(arguments.file or "")) if from_file else from_input("settings")
    except files.FileRefusedError as error:
        raise CommandError(str(error), status=2) from None

    async def edit(draft: Draft) -> Draft:
        try:
            found = settings_files.imported(text, draft)
        except settings_files.ImportRefused as error:
            raise CommandError(str(error), "Nothing was changed.", status=2) from None
        for each in found.notes:
            note(each)
        return found.draft

    return _change(arguments, config, edit)


def undo(arguments: CommandLine, config: Config) -> int:
    """Store the reverse of the last save; 0 only when all of it was read back."""

    async def edit(draft: Draft) -> Draft:
        about = choose(arguments, config, os.environ).connection.about
        saved = last(await KeptState(config.folders.kept).read(Journal, about))
        if saved is None:
            left_behind = config.folders.left_behind
            advice = f"{left_behind}." if left_behind else ""
            raise CommandError("No save from here is noted, so there is nothing to undo.", advice)
        back = undone(saved, draft)
        for label in back.left_out:
            note(f"{label}: cannot be brought back, for secrets are not kept.")
        for label in back.moved:
            note(f"{label}: changed again since, and left alone.")
        if not back.draft.edited:
            raise CommandError("Nothing of the last save can be undone.")
        return back.draft

    return _change(arguments, config, edit)


def _change(arguments: CommandLine, config: Config, edit: Callable[[Draft], Awaitable[Draft]]) -> int:
    """Read what is stored, edit it and save that."""

    async def save_edited(client: Client) -> int:
        server, draft = await read_draft(client)
        return await _save_and_report(client, server, await edit(draft), arguments, config)

    return with_client(arguments, config, save_edited)


# What KEY=VALUE means


def _typed(assignments: Sequence[Assignment]) -> list[Assignment]:
    """The assignments, with what standard input holds in the place of "-"; raises CommandError (status 2)."""
    if len({key for key, _ in assignments}) < len(assignments):
        raise CommandError("A setting is named twice.", "Name each setting once.", status=2)
    if sum(text == FROM_INPUT for _, text in assignments) > 1:
        raise CommandError("Only one setting can come from standard input.", "Use one command for each.", status=2)
    for key, text in assignments:
        if "." not in key:
            _refuse_seen_secret(_field(BY_KEY.get(key), key), text)
    return [(key, from_input("value").strip() if text == FROM_INPUT else text) for key, text in assignments]


def _edited(draft: Draft, assignments: Sequence[Assignment]) -> Draft:
    """The draft with each text in its field; raises CommandError (status 2) for one that means nothing."""
    for key, text in assignments:
        entry = draft.field_at(key)
        if key == MCP:
            draft = draft.set(key, _servers(draft.servers, text))
        elif not text and entry.described:
            draft = draft.unset(key)
        else:
            draft = draft.set(key, _value(entry, text))
    return draft


def _field(entry: Field | None, key: str) -> Field:
    if entry is not None and entry.control is not Control.READ_ONLY:
        return entry
    advice = "`quarterdeck settings show --all` lists those of a server."
    raise CommandError(f"{key!a} is not a setting that can be changed.", advice, status=2)


def _refuse_seen_secret(entry: Field, text: str) -> None:
    if text not in ("", FROM_INPUT) and (entry.secret or entry.key == MCP):
        advice = f"Write {entry.key}=- and give the value on standard input."
        raise CommandError(f"{entry.key} may hold a secret, and arguments are seen by others.", advice, status=2)


def _value(entry: Field, text: str) -> Any:
    if not text:
        return None
    if entry.secret:
        return SecretStr(text)
    if entry.control is Control.SWITCH:
        if text.lower() not in _WORDS:
            raise CommandError(f"{entry.key} is on or off.", f"Write {entry.key}=on or {entry.key}=off.", status=2)
        return _WORDS[text.lower()]
    return entry.reads(text)


def _servers(held: Servers, text: str) -> Servers:
    """The whole list given as JSON, each server taking the place of the held one of its name or address."""
    try:
        wanted = listed(McpConfig.model_validate_json(text or "{}"))
    except ValidationError as error:
        where = "; ".join(
            f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors(include_input=False)
        )
        raise CommandError(f"mcp_config: {where}.", "Give the three lists as one JSON object.", status=2) from None
    rows = dict(zip(identities(entry.server for entry in held.left), held.left, strict=True))
    for identity, server in zip(identities(wanted), wanted, strict=True):
        entry = rows.pop(identity, None)
        held = held.add(server) if entry is None else held.edit(entry.row, server)
    for entry in rows.values():
        held = held.remove(entry.row)
    return held


# Saving


async def _save_and_report(client: Client, server: Server, draft: Draft, arguments: CommandLine, config: Config) -> int:
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
        await _note_down(result.meant, result, config, choose(arguments, config, os.environ).connection)
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


async def _note_down(meant: Draft, result: SaveResult, config: Config, endpoint: Connection) -> None:
    """Note the save in the journal that the deck and `settings undo` go by."""
    try:
        state = KeptState(config.folders.kept)
        await state.change(Journal, endpoint.about, lambda kept: with_save(kept, meant, result.found, utc_now()))
    except ServiceError as error:
        note(f"this save cannot be undone later: {error.words}")


def _report(result: SaveResult, *, as_data: bool) -> int:
    seen = result.seen or Verified(result.draft, 0)
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
                "changes": [_plain(line) for line in review.lines],
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


def _plain(line: Line) -> dict[str, Any]:
    return {"act": str(line.act), "what": line.place or line.label, "old": line.old, "new": line.new, "note": line.note}
