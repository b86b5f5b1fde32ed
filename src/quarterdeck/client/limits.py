"""How long a request may take and how much an answer may hold."""

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
    """Deleting a paused sandbox takes a server ten seconds and more."""
    trajectory: float = 180.0
    """For a trajectory: a server packs it first, and it may be long."""
    release: float = 10.0
    alive: float = 3.0
    probe: float = 5.0
    """For trying the address of a tool server from this machine."""
    repeat_after: float = 0.3
    """Before the first repeat; it doubles with each."""
    body: int = 16 * 2**20
    list_body: int = 32 * 2**20
    """A server may answer with all its records at once, a kilobyte each."""
    trajectory_body: int = 256 * 2**20
    page: int = 100
    """Records asked for in one page; more is refused by every release."""
    batch: int = 99
    """Ids asked for in one request."""
    pages: int = 1_100
    empty_pages: int = 3
    per_second: int = 5
    log: int = 500
