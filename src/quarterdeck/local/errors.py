"""What can go wrong in the local service, in words a person can read."""


class LocalServiceError(Exception):
    """Something the local service could not do; its text is one or two plain sentences without secrets."""

    @property
    def words(self) -> str:
        """What is wrong and what to do."""
        return str(self)


class SandboxError(LocalServiceError):
    """A sandbox did not come up."""


class RepositoryError(LocalServiceError):
    """A repository could not be fetched into a workspace."""
