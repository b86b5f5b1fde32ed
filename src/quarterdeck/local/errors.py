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


class RefusalError(LocalServiceError):
    """What a request asks for cannot be done; the text says why, without secrets."""


class UnknownNameError(RefusalError):
    """There is nothing of that name."""


class TakenNameError(RefusalError):
    """There is a secret of that name already."""


class TokenRefusedError(RefusalError):
    """A git provider does not take a token; it says nothing of the key of the request (contract T23)."""


class ProfileRefusedError(RefusalError):
    """There is a profile of that name already, or there are too many."""


class InvalidSettingsError(RefusalError):
    """These settings cannot be stored."""


class UnreadableSettingsError(RefusalError):
    """What is stored are no settings any more (contract T3)."""
