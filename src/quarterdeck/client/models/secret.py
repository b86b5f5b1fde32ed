"""Custom secrets and tokens of git providers: written, never read back."""

from dataclasses import dataclass

from pydantic import SecretStr

from quarterdeck.client.models.base import Wire


class CustomSecret(Wire):
    """A secret that sandboxes get as an environment variable; its value is never told."""

    name: str
    description: str | None = None

    @property
    def id(self) -> str:
        """What tells it from the others: its name."""
        return self.name


class CustomSecrets(Wire):
    """The answer that lists them all at once."""

    custom_secrets: tuple[CustomSecret, ...]


@dataclass(frozen=True)
class ProviderToken:
    """Access to one git provider; a `token` of None keeps the stored one, a `host` of None means the usual one."""

    token: SecretStr | None = None
    host: str | None = None
