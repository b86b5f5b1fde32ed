"""The local service, and servers that keep settings as other real ones do, put before it on its store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from quarterdeck.local.service import LocalService
from quarterdeck.local.specs import BUILT_IN, Spec
from tests.servers.nested import nested
from tests.servers.replacing import Before, replacing

Mode = Literal["merge", "replace", "nested"]
"""How settings are stored: as the local service does, as release 1.6 does, or as release 1.11 does."""
_BEFORE: Mapping[Mode, Callable[[LocalService], Before]] = {"replace": replacing, "nested": nested}


async def open_server(folder: Path, store: Mode = "merge", specs: Sequence[Spec] = BUILT_IN) -> LocalService:
    service = await LocalService.open(folder, specs=specs)
    return replace(service, app=_BEFORE[store](service)) if store in _BEFORE else service
