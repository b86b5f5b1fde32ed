"""What can go wrong with one exchange on its way, whichever way that is."""

from enum import Enum, auto


class Fault(Enum):
    """Where an exchange failed."""

    CONNECT = auto()
    CONNECT_TIMEOUT = auto()
    POOL_TIMEOUT = auto()
    WRITE_TIMEOUT = auto()
    READ = auto()
    READ_TIMEOUT = auto()
    BAD_REQUEST = auto()
    """It cannot be written as HTTP, and nothing of it was sent."""
    NO_HTTP = auto()
    """What came is not HTTP."""
    BAD_ANSWER = auto()
    """It breaks the rules of HTTP, or stops in the middle."""


class WireError(Exception):
    """An exchange that came to nothing; its cause is what happened below, its text in whose words ever."""

    def __init__(self, fault: Fault, text: str = "") -> None:
        super().__init__(text)
        self.fault = fault
