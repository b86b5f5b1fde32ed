"""What can go wrong in the local service, in words a person can read."""


class LocalServiceError(Exception):
    """Something the local service could not do; its text is one or two plain sentences without secrets."""


class RefusalError(LocalServiceError):
    """A request about secrets that cannot be done; answered with `status`, the text as the one member of an object."""

    def __init__(self, words: str, status: int, member: str = "error") -> None:
        super().__init__(words)
        self.status = status
        self.member = member
