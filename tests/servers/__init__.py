"""The local service, and servers that keep settings as other real ones do, built on its store and its routes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from quarterdeck.local.service import Generation, LocalService, merging
from quarterdeck.local.specs import BUILT_IN, Spec
from quarterdeck.local.store import Store
from tests.servers.nested import nested
from tests.servers.replacing import replacing

Mode = Literal["merge", "replace", "nested"]
"""How settings are stored: as the local service does, as release 1.6 does, or as release 1.11 does."""

_SPEAKING: Mapping[Mode, Callable[[Store], Generation]] = {"merge": merging, "replace": replacing, "nested": nested}


async def open_server(folder: Path, store: Mode = "merge", specs: Sequence[Spec] = BUILT_IN) -> LocalService:
    return await LocalService.open(folder, specs=specs, speaking=_SPEAKING[store])
