"""`quarterdeck settings set`, `import` and `undo`: the deck's save, confirmed by command line options."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import client_for
from quarterdeck.cli.output import STANDARD, CommandError, answer, from_input, if_interrupted, note, print_json, say
from quarterdeck.cli.settings import read_draft
from quarterdeck.cli.target import choose
from quarterdeck.client.client import Client
from quarterdeck.client.models.server import Server
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.config.files import ConfigError, read_named
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import utc_now
from quarterdeck.settings import files as settings_files
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control
from quarterdeck.settings.kept import DisabledServers, Journal
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_json import ON_HERE, Pasted, PasteError, pasted
from quarterdeck.settings.mcp_server import missing, paired, versions
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import Review, ReviewLine, problems
from quarterdeck.settings.save import SAYS, Caller, SaveResult, save
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from quarterdeck.settings.verify import ADDED_AGAIN, Verified
from quarterdeck.settings.words import few, server_title, together
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.text import line

TAKE_OUT = "Take out of the file what is not to be changed."
UNCHANGED = "nothing to change"


async def change(arguments: CommandLine, config: Config) -> int:
    """Store changes; 0 only if all of them were verified by reading."""
    assignments = arguments.assignments
    if twice := [key for key, count in Counter(key for key, _ in assignments).items() if count > 1]:
        raise CommandError(f"{', '.join(twice)}: named more than once.", "Name each setting once.", status=2)
    if sum(text == STANDARD for _, text in assignments) > 1:
        raise CommandError("Only one setting can come from standard input.", "Use one command for each.", status=2)
    async with client_for(arguments, config) as client:
        draft = await read_draft(client)
        refused: list[CommandError] = []
        for key, text in assignments:
            try:
                draft = _with_assignment(draft, key, text)
            except CommandError as error:
                refused.append(error)
        if refused:
            said = (*(each.words for each in refused), *_stops(draft, client.server))
            raise CommandError(" ".join(said), " ".join(dict.fromkeys(each.advice for each in refused)), status=2)
        return await _save(arguments, config, client, draft)


async def take(arguments: CommandLine, config: Config) -> int:
    """Store what a file contains; 0 only if all of it was verified by reading."""
    try:
        text = from_input("settings") if arguments.file == STANDARD else read_named(Path(arguments.file or ""))
    except ConfigError as error:
        raise CommandError(f"{error}.", status=2) from None
    async with client_for(arguments, config) as client:
        try:
            found = settings_files.imported(text, await read_draft(client))
        except settings_files.ImportRefused as error:
            raise CommandError(str(error), "Nothing was changed.", status=2) from None
        for each in (*(f"Left alone: {each}" for each in found.left), *found.notes):
            note(each)
        if found.wrong:
            raise CommandError(" ".join(found.wrong), f"Nothing was changed. {TAKE_OUT}", status=2)
        return await _save(arguments, config, client, found.draft)


async def undo(arguments: CommandLine, config: Config) -> int:
    """Undo the last save; 0 only if all of it was verified by reading."""
    about = choose(arguments, config).about
    async with client_for(arguments, config) as client:
        left_behind = config.folders.left_behind  # before a damaged file, which is told of by itself, is one of them
        state = KeptState(config.folders.kept, _tell_damaged)
        journal, kept_here = await state.read(Journal, about), await state.read(DisabledServers, about)
        now = replace(await read_draft(client), disabled=kept_here.servers)
        last = journal.last_save(now)
        if last is None:
            advice = " ".join(f"{each}." for each in left_behind)
            raise CommandError("No save from here is noted, so there is nothing to undo.", advice)
        _, back = last
        for sentence in back.not_undone:
            note(sentence)
        if not back.draft.edited:
            raise CommandError("Nothing of the last save can be undone.")
        return await _save(arguments, config, client, back.draft, told=True)


# How an assignment is read


def _with_assignment(draft: Draft, key: str, text: str) -> Draft:
    """Return the draft with a text as the value of a field; raises CommandError (status 2) if it is invalid."""
    entry = draft.fields.by_key.get(key)
    if entry is None or not draft.has(entry) or entry.control is Control.READ_ONLY:
        advice = "`quarterdeck help settings` lists all, `settings show --all` lists those of a server."
        raise CommandError(f"{key!r} is not a setting that can be changed.", advice, status=2)
    if text not in ("", STANDARD) and (entry.secret or key == MCP):
        advice = f"Write {key}=- and give the value on standard input."
        raise CommandError(f"{key}: This may hold a secret, and arguments are seen by others.", advice, status=2)
    if text == STANDARD:
        text = from_input("value").strip()
        if not text:  # for example after a failed command: nobody meant to clear the value
            raise CommandError(f"{key}: Standard input is empty, nothing was changed.", f"{key}= clears it.", status=2)
    if key == MCP:
        return draft.set(key, _servers(draft, text))
    return draft.set(key, entry.parse(text))


def _servers(draft: Draft, text: str) -> Servers:
    """Return the whole list from JSON; each server replaces the existing one with its name or address."""
    held = draft.servers
    try:
        found = pasted(text, nested=draft.fields.nested) if text else Pasted(())
    except PasteError as error:
        advice = "Give mcpServers or the three lists as one JSON object; mcp_config= removes all."
        raise CommandError(f"mcp_config: {error}", advice, status=2) from None
    if found.left_out:  # the list is whole: what is left out of it would be removed
        raise CommandError(f"mcp_config: {' '.join(found.left_out)}", "Nothing was changed.", status=2)
    for each in (*found.notes, *(f"{server_title(server)}: {ON_HERE}" for server in found.off)):
        note(each)
    rows = paired(versions(enumerate(found.servers)), versions((entry.row, entry.server) for entry in held.remaining))
    gone = [entry.row for entry in held.remaining if entry.row not in rows.values()]
    for number, server in enumerate(found.servers):
        held = held.edit(rows[number], server) if number in rows else held.add(server)
    return held.remove(*gone)


# Saving


def _tell_damaged(renamed: Path) -> None:
    note(f"A state file was damaged and is put aside: {renamed}.")


async def _save(arguments: CommandLine, config: Config, client: Client, draft: Draft, *, told: bool = False) -> int:
    """Save a draft and print the result; returns the exit status, 0 only if all changes were verified by reading.

    The changes themselves are `told` first where nobody named them.
    Raises CommandError (status 2 for a value that this server does not accept) and ServiceError.
    """
    edited = [entry.server for entry in draft.servers.remaining if entry.edited]
    if lacking := [f"{server_title(each)} ({', '.join(missing(each))})" for each in edited if any(missing(each))]:
        advice = "Write them in place of ${...} in the file of `settings import`, or give them to mcp_config=-."
        if told:
            advice = "Take the save back in the deck, where they can be typed (Undo save, f2 in the settings)."
        raise CommandError(f"Nothing was saved: secrets are missing of {few(lacking, '; ')}.", advice, status=2)
    if said := _stops(draft, client.server):
        raise CommandError(" ".join(said), TAKE_OUT if arguments.file else "", status=2)

    async def agree(review: Review, request: PreparedRequest | None, why: str) -> bool:
        if arguments.dry_run:
            answer(arguments, _plan(review), map(line, _plan_lines(review)))
            if review.losses and not arguments.accept_losses:
                words = "Without --dry-run this save is refused, because it loses something."
                note(words, "--accept-losses saves all the same.")
            return False
        if not client.transport.access.read_only:  # then nothing is sent, which the client says
            _warn(review, arguments)
        if told and not arguments.json:
            for change in review.lines:
                say(_change_words(change))
        return True

    about = choose(arguments, config).about
    state = KeptState(config.folders.kept, _tell_damaged)
    store = RememberingStore(client, TypedSecrets())
    noting, keeping = partial(state.change, Journal, about), partial(state.change, DisabledServers, about)
    goes_on = "The server may go on and store it.", "`quarterdeck settings show` shows it then."
    caller = Caller(_give_up, agree, noting, keeping, utc_now, partial(if_interrupted, *goes_on))
    result = await save(draft, store, caller)
    if arguments.dry_run and not result.error:
        if result.saved:
            answer(arguments, _plan(Review((), (), ())), [line(UNCHANGED)])
        return 0
    if result.error and result.seen is None:
        # The refusal has the words about each field already, unless it was too long to be passed on whole.
        cut = (each for each in result.complaints if each.words.removeprefix(SAYS) not in result.words)
        raise CommandError(" ".join((result.words, *(f"{each.key}: {each.words}" for each in cut))))
    return _report(result, as_data=arguments.json)


def _stops(draft: Draft, server: Server) -> Iterable[str]:
    """Return why a draft cannot be saved, each sentence with the fields or MCP servers it is about."""
    titles: dict[int | None, str] = {entry.row: f": {server_title(entry.server)}" for entry in draft.servers.entries}
    found = (each for each in problems(draft, server) if each.stops)
    return together((f"{each.key}{titles.get(each.row, '')}", each.words) for each in found)


async def _give_up(conflict: Conflict) -> Side | None:
    """Raise CommandError, because somebody is changing the same setting right now."""
    raise CommandError(f"Somebody else is changing {conflict.key} right now; nothing was saved.", "Run it again.")


def _warn(review: Review, arguments: CommandLine) -> None:
    """Print losses and warnings; raises CommandError (status 2) if something would be lost without consent."""
    if review.losses and not arguments.accept_losses:
        lost, keys = " ".join(loss.words for loss in review.losses), review.to_give_again
        advice = "Add --accept-losses to save all the same."
        if keys and (arguments.assignments or arguments.file):
            by_assignment = arguments.assignments and len(keys) == 1
            given = f"{keys[0]}=- too" if by_assignment else f"{', '.join(keys)} in a file of `settings import`"
            advice = f"Give {given} to keep it, or add --accept-losses."
        raise CommandError(f"Nothing was saved, because this save loses something: {lost}", advice, status=2)
    for loss in review.losses:
        note(f"this save loses something: {loss.words}")
    for warning in review.warnings:
        note(warning)


def _report(result: SaveResult, *, as_data: bool) -> int:
    seen = result.seen or Verified(result.draft, 0)
    if as_data:
        differences = {each.key: {"meant": each.meant, "found": each.found} for each in seen.differences}
        counts = {"asked": seen.asked, "verified": seen.good, "accepted": len(seen.accepted)}
        print_json({**counts, "not_known": [each.key for each in seen.not_known], "differences": differences})
    else:
        say(_outcome(result, seen))
        for each in seen.differences:
            note(f"{each.key}: meant {each.meant}, but the server holds {each.found}.")
        for title in seen.returned:
            note(f"{title}: a copy was deleted and is back. {ADDED_AGAIN}")
    if result.error and not seen.differences:
        note(result.words.rpartition(" · ")[2])
    return 0 if result.saved and not result.error and not seen.returned else 1


def _outcome(result: SaveResult, seen: Verified) -> str:
    if result.meant is None:
        return UNCHANGED
    return seen.counted if seen.accepted else f"{seen.good} of {seen.asked} changes verified"


def _plan(review: Review) -> dict[str, Any]:
    return {
        "changes": [_plain(change) for change in review.lines],
        "losses": [loss.words for loss in review.losses],
        "warnings": review.warnings,
    }


def _plan_lines(review: Review) -> Iterable[str]:
    yield from (f"loses: {loss.words}" for loss in review.losses)
    yield from map(_change_words, review.lines)
    yield from (f"note: {warning}" for warning in review.warnings)
    yield "Nothing was sent."


def _change_words(change: ReviewLine) -> str:
    values = " -> ".join(filter(None, (change.old, change.new)))
    remark = f" ({change.note})" if change.note else ""
    return ": ".join(filter(None, (change.act, change.label, values))) + remark


def _plain(change: ReviewLine) -> dict[str, Any]:
    what = change.place or change.label
    return {"act": str(change.act), "what": what, "old": change.old, "new": change.new, "note": change.note}
