"""The errors of the local service, with words for a person."""


class LocalServiceError(Exception):
    """Something failed in the local service; the text is one or two plain sentences without secrets."""


class RefusalError(LocalServiceError):
    """A refused request about secrets; the response has `status`, and the text as the only member of an object."""

    def __init__(self, words: str, status: int, member: str = "error") -> None:
        super().__init__(words)
        self.status = status
        self.member = member
