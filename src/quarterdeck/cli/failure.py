"""Why a command ended without being done."""


class CommandError(Exception):
    """A command that cannot go on: what is wrong, what to do, and the exit status (2 for wrong usage)."""

    def __init__(self, words: str, advice: str = "", *, status: int = 1) -> None:
        super().__init__(words)
        self.words = words
        self.advice = advice
        self.status = status
