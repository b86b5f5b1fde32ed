"""`quarterdeck sandboxes list --watch`: one line per change of a status, until a signal or a closed pipe."""

import sys
from itertools import islice

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import client_for, refuse_unknown_status, typed_filter, until_signal, words_of
from quarterdeck.cli.output import note, print_json, say
from quarterdeck.cli.sandboxes import GRAMMAR, lists_for
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import utc_now
from quarterdeck.fleet.bulk import SANDBOXES
from quarterdeck.fleet.filters import Filter
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.sandbox_state import StateWord
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.timeline import Cause

MOST_POLLED = 99
"""How many matching sandboxes are polled between two readings of the whole list: one request."""


async def run(arguments: CommandLine, config: Config) -> int:
    """Print changes until a signal, which is status 0; raises CommandError if nothing can be read."""
    wanted = typed_filter(arguments.filter, GRAMMAR)
    async with client_for(arguments, config) as client:
        return await until_signal(_Watching(client, wanted, json=arguments.json).run())


class _Watching:
    """Prints changes of the sandboxes that match a filter, while `run` runs."""

    def __init__(self, client: Client, wanted: Filter[SandboxRow], *, json: bool) -> None:
        self._wanted = wanted
        self._json = json
        self._session = session = Session(client, self._read, utc_now)
        self._asked_about = lists_for(session, wanted)
        """The lists that the filter needs."""
        self._failing: set[object] = set()
        self._rows: dict[str, SandboxRow] = {}
        self._begun = False

    async def run(self) -> None:
        """Poll until cancelled.

        Raises BrokenPipeError, and ServiceError for a refused key or if the first reading fails.
        """
        try:
            await self._session.run()
        except ExceptionGroup as several:
            raise several.exceptions[0] from None

    def _read(self, news: News) -> None:
        """Handle a reading; changes before everything was read once are not printed."""
        self._note_failures()
        if news.about is not About.SANDBOXES:
            return
        for sandbox_id in self._session.sandboxes.records if news.all_rows else news.ids:
            self._compare(sandbox_id)
        if not self._begun and not any(watch.health.incomplete for watch in self._asked_about):
            self._begun = True
            refuse_unknown_status(self._wanted, StateWord, self._rows.values())
            note(f"watching {SANDBOXES.counted(sum(map(self._passes, self._rows.values())))}.")
        if self._begun:
            matching = (row.id for row in self._rows.values() if self._passes(row))
            self._session.set_viewport(About.SANDBOXES, tuple(islice(matching, MOST_POLLED)))

    def _compare(self, sandbox_id: str) -> None:
        before, after = self._rows.pop(sandbox_id, None), self._session.sandbox_row(sandbox_id)
        if after is not None:
            self._rows[sandbox_id] = after
        was, word = (row and row.memory.word for row in (before, after))
        if self._begun and was != word and any(row and self._passes(row) for row in (before, after)):
            self._print(sandbox_id, was, word)

    def _passes(self, row: SandboxRow) -> bool:
        return self._wanted.matches(row, utc_now())

    def _print(self, sandbox_id: str, was: str | None, word: str | None) -> None:
        """Print one change: `was` is None for a new sandbox, `word` for a removed one."""
        now = utc_now().isoformat(timespec="seconds").replace("+00:00", "Z")
        cause, why = Cause.SERVER, "it is not listed any more"
        if word is not None:
            events = self._session.memories.timelines.of(sandbox_id)
            cause, why = (events[-1].cause, events[-1].words) if events else (Cause.UNKNOWN, "")
        if self._json:
            change = {"time": now, "id": sandbox_id, "from": was, "to": word, "cause": cause, "why": why}
            print_json(change, indent=None)
        else:
            say(now, sandbox_id, f"{was or 'new'} -> {word or 'gone'}", cause)
        sys.stdout.flush()

    def _note_failures(self) -> None:
        """Print the first of several failures in a row, if a retry may help; raises the error otherwise."""
        for watch in self._asked_about:
            error = watch.health.error
            if error is None:
                if self._failing == {watch}:
                    note("It answers again.")
                self._failing.discard(watch)
            elif not self._begun or error.kind is ErrorKind.AUTH:
                raise error
            elif watch not in self._failing:
                self._failing.add(watch)
                note(f"{words_of(error)} It is tried again.")
