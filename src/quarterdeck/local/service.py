"""The local service, opened on a data folder."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from quarterdeck.local.app import Parts, build
from quarterdeck.local.changes import Changes
from quarterdeck.local.conversations import Conversations
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.generation import generation
from quarterdeck.local.launching import new_key
from quarterdeck.local.ownership import Ownership
from quarterdeck.local.routes.conversations import conversations_router
from quarterdeck.local.routes.sandboxes import sandboxes_router
from quarterdeck.local.routes.specs import specs_router
from quarterdeck.local.routes.start_tasks import start_tasks_router
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.settings_store import Mode
from quarterdeck.local.specs import BUILT_IN, Spec
from quarterdeck.local.start_tasks import StartTasks
from quarterdeck.local.store import Store

App = Callable[..., Awaitable[None]]
"""An ASGI app."""


@dataclass(frozen=True)
class LocalService:
    """An opened data folder: an ASGI app and the key that it wants."""

    app: App
    key: SecretStr
    _closing: AsyncExitStack

    @classmethod
    async def open(
        cls, folder: Path, *, key: SecretStr | None = None, store: Mode = "merge", specs: Sequence[Spec] | None = None
    ) -> "LocalService":
        """Open a data folder, made if there is none, with a key made if none is given.

        `store` is how settings are stored; `specs` are what sandboxes can be started from, the first is the default.
        Raises `LocalServiceError` when the folder cannot be used.
        """
        key = key or SecretStr(new_key())
        table = tuple(specs or BUILT_IN)
        async with AsyncExitStack() as opened:
            folder, ownership = await asyncio.to_thread(_take_folder, folder)
            opened.callback(ownership.close)
            database = await Store.open(folder / "service.db")
            opened.push_async_callback(database.close)
            changes = Changes()
            opened.push_async_callback(changes.close)
            sandboxes = Sandboxes(folder / "sandboxes", database, table, ownership, changes)
            conversations = Conversations(database, sandboxes, changes)
            spoken = await asyncio.to_thread(generation, store, database, changes)
            start_tasks = StartTasks(database, sandboxes, conversations, changes, spoken.llm_model)
            fleet = (
                sandboxes_router(sandboxes),
                start_tasks_router(start_tasks),
                conversations_router(conversations, start_tasks),
            )
            app = await asyncio.to_thread(build, Parts(folder, spoken, fleet, specs_router(table)), key)
            if ownership.held():
                await start_tasks.go_on()
            return cls(app, key, opened.pop_all())

    async def close(self) -> None:
        """Finish the changes under way, close the database and give the folder up; sandboxes go on running."""
        await self._closing.aclose()


def _take_folder(folder: Path) -> tuple[Path, Ownership]:
    """Make the folder its owner's alone, and ask for its lock; gives its whole path, for sandboxes run elsewhere."""
    folder = folder.absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        return folder, Ownership(folder)
    except OSError as error:
        raise LocalServiceError(
            f"The local service cannot keep its data in {folder}: {error.strerror}. Make it yours, or name another one."
        ) from error
