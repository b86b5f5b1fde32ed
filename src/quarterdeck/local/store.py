"""The service's data: the folder and its owner, the database, and changes that are always completed."""

import asyncio
import fcntl
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from quarterdeck.local.errors import LocalServiceError

T = TypeVar("T")
Record = dict[str, Any]
"""A stored document: names as in the interface, values as JSON, secrets in clear."""

_STEPS = (
    """
CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), record TEXT NOT NULL);
CREATE TABLE sandboxes (
    id TEXT PRIMARY KEY, spec_id TEXT NOT NULL, created_at TEXT NOT NULL, key TEXT NOT NULL, port INTEGER,
    pid INTEGER, ticks INTEGER, boot TEXT, status TEXT NOT NULL, has_run INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE conversations (
    id TEXT PRIMARY KEY, sandbox_id TEXT NOT NULL, title TEXT NOT NULL, message TEXT, repository TEXT, branch TEXT,
    git_provider TEXT, trigger TEXT, pr_number TEXT NOT NULL, llm_model TEXT, parent_id TEXT, public INTEGER,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE INDEX conversations_by_age ON conversations (created_at);
CREATE TABLE start_tasks (
    id TEXT PRIMARY KEY, status TEXT NOT NULL, detail TEXT, conversation_id TEXT NOT NULL, sandbox_id TEXT,
    request TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    runner_pid INTEGER NOT NULL, runner_ticks INTEGER NOT NULL, runner_boot TEXT NOT NULL
);
CREATE INDEX start_tasks_by_age ON start_tasks (created_at);
PRAGMA user_version = 1
""",
    """
CREATE TABLE documents (name TEXT PRIMARY KEY, record TEXT NOT NULL);
INSERT INTO documents SELECT 'settings', json_remove(record, '$.secrets_store') FROM settings;
INSERT INTO documents SELECT 'secrets', json_extract(record, '$.secrets_store') FROM settings
    WHERE json_type(record, '$.secrets_store') = 'object';
DROP TABLE settings;
PRAGMA user_version = 2
""",
    """
ALTER TABLE conversations ADD COLUMN agent TEXT NOT NULL DEFAULT 'idle';
ALTER TABLE conversations ADD COLUMN cost REAL;
CREATE INDEX conversations_by_parent ON conversations (parent_id, created_at);
CREATE INDEX conversations_by_sandbox ON conversations (sandbox_id);
CREATE INDEX sandboxes_by_age ON sandboxes (created_at);
PRAGMA user_version = 3
""",
    """
CREATE TABLE events (
    conversation_id TEXT NOT NULL, place INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (conversation_id, place)
) WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_id ON events (conversation_id, id);
CREATE TRIGGER forget_events AFTER DELETE ON conversations BEGIN DELETE FROM events WHERE conversation_id = old.id; END;
CREATE INDEX sandboxes_by_key ON sandboxes (key);
PRAGMA user_version = 4
""",
)
"""The migrations of the database; each leads to the next version, the first one creates it."""


class ChangeRunner:
    """Runs changes in tasks of the service's own.

    A client's deadline cancels its handler midway; a change within the handler would be left incomplete.
    """

    def __init__(self) -> None:
        self._whole: set[asyncio.Task[Any]] = set()
        self._long: set[asyncio.Task[Any]] = set()
        self._closing = False

    async def run(self, change: Awaitable[T]) -> T:
        """Run a change to its end and return its result; cancelling the caller does not cancel it."""
        return await asyncio.shield(_keep(self._whole, change))

    def begin(self, work: Awaitable[T]) -> asyncio.Task[T]:
        """Start long work; closing cancels it, even if it starts afterwards."""
        task = _keep(self._long, work)
        if self._closing:
            task.cancel()
        return task

    async def close(self) -> None:
        """Cancel the long work, then wait until every current change is done."""
        self._closing = True
        for task in self._long:
            task.cancel()
        while pending := self._whole | self._long:
            await asyncio.wait(pending)


class Store:
    """An open database, and its current changes."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self.changes = ChangeRunner()
        self._connection = connection
        self._writing = asyncio.Lock()

    @classmethod
    async def open(cls, path: Path | None) -> "Store":
        """Open the database at `path`, which is created if missing; without a path, one in memory.

        Raises `LocalServiceError`.
        """
        try:
            if path is not None:
                _make_private(path)
            connection = await aiosqlite.connect(path or ":memory:", timeout=5.0, isolation_level=None)
            try:
                await _prepare(connection)
            except BaseException:
                await connection.close()
                raise
        except (OSError, sqlite3.Error) as error:
            damaged = getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
            room = "Make room on its disk, or close what else uses it."
            advice = "Move it away, and the local service makes a new one." if damaged else room
            raise LocalServiceError(f"The local service cannot use {path}: {error}. {advice}") from error
        return cls(connection)

    async def close(self) -> None:
        """Finish the current changes and close."""
        await self.changes.close()
        await self._connection.close()

    async def select(self, table: str, condition: str = "1", parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return the rows that meet a condition, which may include order and limit. Both texts must be constants."""
        statement = f"SELECT * FROM {table} WHERE {condition}"  # noqa: S608 - values are passed as parameters
        return list(await self._connection.execute_fetchall(statement, parameters))

    async def by_ids(self, table: str, ids: Iterable[str]) -> list[sqlite3.Row]:
        """Return the rows with one of these ids, in any order."""
        return await self.select(table, "id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))

    async def count(self, table: str, condition: str = "1", parameters: Sequence[Any] = ()) -> int:
        """Return how many rows meet a condition."""
        statement = f"SELECT count(*) FROM {table} WHERE {condition}"  # noqa: S608 - values are passed as parameters
        (row,) = await self._connection.execute_fetchall(statement, parameters)
        return int(row[0])

    async def insert(self, table: str, row: Mapping[str, Any]) -> None:
        """Add a row, unless one with its id exists; its names must be constants."""
        names, places = ", ".join(row), ", ".join("?" * len(row))
        statement = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - values are passed as parameters
        await self.run(statement, tuple(row.values()))

    async def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Run one change; returns how many rows it created or changed."""
        async with self._writing, self._connection.execute(statement, parameters) as cursor:
            return cursor.rowcount

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        """Run several changes or none of them; nobody else writes in between."""
        async with self._writing:
            try:
                await self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                await self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.OperationalError):  # it did not begin, or was cancelled after the commit
                    await self._connection.execute("ROLLBACK")
                raise

    async def document(self, name: str) -> Record | None:
        """Return a stored document, None if there is none."""
        rows = await self.select("documents", "name = ?", (name,))
        return json.loads(rows[0]["record"]) if rows else None

    @asynccontextmanager
    async def changing(self, *names: str) -> AsyncIterator[dict[str, Record | None]]:
        """Yield documents by name, None if not stored; their content at the end is stored.

        If an exception is raised, none of them is stored.
        """
        async with self.transaction() as connection:
            documents = {name: await self.document(name) for name in names}
            yield documents
            for name, record in documents.items():
                if record is not None:
                    await connection.execute(
                        "INSERT INTO documents VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET record = excluded.record",
                        (name, json.dumps(record)),
                    )


class Ownership:
    """The lock of a data folder, which the system releases when its holder dies.

    Only its holder may declare a sandbox dead. Everybody who opens the folder requests it without waiting, and again
    whenever it matters: it becomes free when its holder closes the folder or dies.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / "owner.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def held(self) -> bool:
        """Whether this opening of the folder is its owner now; to lock again what it holds changes nothing."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Release the lock."""
        os.close(self._file)


def _keep(tasks: set[asyncio.Task[Any]], work: Awaitable[T]) -> asyncio.Task[T]:
    task = asyncio.ensure_future(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task


def _make_private(path: Path) -> None:
    """Create the file with a private mode, which SQLite also gives to its other files."""
    path.touch(mode=0o600)
    path.chmod(0o600)


async def _prepare(connection: aiosqlite.Connection) -> None:
    """Migrate the database to the version of this program."""
    connection.row_factory = sqlite3.Row
    await connection.execute("PRAGMA journal_mode = WAL")
    await connection.execute("PRAGMA synchronous = FULL")  # confirmed changes must also survive a power failure
    await connection.execute("BEGIN EXCLUSIVE")  # another process may open it at the same time
    (row,) = await connection.execute_fetchall("PRAGMA user_version")
    if row[0] > len(_STEPS):
        raise LocalServiceError("Its data was written by a newer Quarterdeck. Update this one, or name another folder.")
    for step in _STEPS[row[0] :]:
        for statement in step.split(";\n"):
            await connection.execute(statement)
    await connection.execute("COMMIT")
