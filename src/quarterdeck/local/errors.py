"""The errors of the local service, with words for a person."""


class LocalServiceError(Exception):
    """Something failed in the local service; the text is one or two plain sentences without secrets.

    The response has `status`, and an object with the text as its only `member`.
    """

    status = 500
    member = "detail"


class RefusalError(LocalServiceError):
    """A refused request about secrets."""

    def __init__(self, words: str, status: int, member: str = "error") -> None:
        super().__init__(words)
        self.status = status
        self.member = member
