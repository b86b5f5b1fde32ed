"""A stored sandbox and what is said of it: pure data and functions."""

import sqlite3
from dataclasses import dataclass

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.processes import Identity, Seen
from quarterdeck.local.records import ExposedUrl, SandboxRecord
from quarterdeck.local.specs import Spec

READY_WITHIN = 20.0
"""Seconds that a sandbox has to answer before its silence is an error."""


@dataclass(frozen=True)
class Sandbox:
    """A sandbox; `status` is the last one that was seen, `has_run` whether it ever was RUNNING."""

    id: str
    spec_id: str
    created_at: str
    key: str
    port: int | None
    leader: Identity
    status: SandboxStatus
    has_run: bool


def from_row(row: sqlite3.Row) -> Sandbox:
    """Read a stored sandbox."""
    return Sandbox(
        id=row["id"],
        spec_id=row["spec_id"],
        created_at=row["created_at"],
        key=row["key"],
        port=row["port"],
        leader=Identity(row["pid"], row["ticks"], row["boot"]),
        status=SandboxStatus(row["status"]),
        has_run=bool(row["has_run"]),
    )


def judge(sandbox: Sandbox, seen: Seen, silence: float | None, *, owner: bool) -> SandboxStatus:
    """Say what state a sandbox is in; `silence` in seconds is None when its address answers or it has none.

    Only the owner of the data folder declares a sandbox dead: to everybody else, who may just not see its processes, it
    is what the owner last saw.
    """
    if seen is Seen.GONE:
        if not owner:
            return sandbox.status
        return SandboxStatus.MISSING if sandbox.has_run else SandboxStatus.ERROR
    if seen is Seen.STOPPED:
        return SandboxStatus.PAUSED
    if silence is None:
        return SandboxStatus.RUNNING
    return SandboxStatus.STARTING if silence < READY_WITHIN else SandboxStatus.ERROR


def to_record(sandbox: Sandbox, spec: Spec | None) -> SandboxRecord:
    """What is told of a sandbox; `spec` is None when its row is no longer in the table."""
    running = sandbox.status is SandboxStatus.RUNNING
    return SandboxRecord(
        id=sandbox.id,
        created_by_user_id=None,
        sandbox_spec_id=sandbox.spec_id,
        status=sandbox.status,
        session_api_key=sandbox.key if running else None,
        exposed_urls=_addresses(sandbox, spec) if running else None,
        created_at=sandbox.created_at,
    )


def _addresses(sandbox: Sandbox, spec: Spec | None) -> list[ExposedUrl]:
    if spec is None or spec.address is None or sandbox.port is None:
        return []
    url = f"http://127.0.0.1:{sandbox.port}/?session_api_key={sandbox.key}"
    return [ExposedUrl(name=spec.address, url=url, port=sandbox.port)]
