"""How long a request may take and how much an answer may hold (reliability.md section 3)."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Times in seconds, sizes in bytes of the decoded body, the rest are counts."""

    connect: float = 5.0
    pool: float = 5.0
    read: float = 20.0
    write: float = 20.0
    kept: float = 4.0
    """In which a connection is used again: the watch reads every 2 s, and uvicorn hangs up after 5."""
    total: float = 30.0
    start: float = 90.0
    """For starting a sandbox and creating a conversation: a server may have to pull an image first."""
    delete: float = 60.0
    """Deleting a paused sandbox takes a server ten seconds and more (contract section e)."""
    trajectory: float = 180.0
    """For a trajectory: a server packs it first, and it may be long."""
    release: float = 10.0
    knock: float = 3.0
    reach: float = 5.0
    """For trying the address of a tool server from this machine."""
    repeat_after: float = 0.3
    """Before the first repeat; it doubles with each."""
    body: int = 16 * 2**20
    trajectory_body: int = 256 * 2**20
    page: int = 100
    """Records asked for in one page; more is refused by every release (contract T17)."""
    batch: int = 99
    """Ids asked for in one request (contract T17)."""
    pages: int = 1_100
    empty_pages: int = 3
    per_second: int = 5
    log: int = 500
