"""What can go wrong in the local service, in words a person can read."""


class LocalServiceError(Exception):
    """Something the local service could not do; its text is one or two plain sentences without secrets."""


class BusyError(LocalServiceError):
    """The service takes no more requests for a while, `retry_after` seconds."""

    def __init__(self, words: str, retry_after: int) -> None:
        super().__init__(words)
        self.retry_after = retry_after


class SandboxError(LocalServiceError):
    """A sandbox did not come up."""


class RefusalError(LocalServiceError):
    """What a request asks for cannot be done; the text says why, without secrets."""


class AlreadyRunningError(RefusalError):
    """An agent runs, so it cannot be let go on."""


class UnknownNameError(RefusalError):
    """There is nothing of that name."""


class TakenNameError(RefusalError):
    """There is something of that name already."""


class TokenRefusedError(RefusalError):
    """A git provider does not take a token; it says nothing of the key of the request."""
