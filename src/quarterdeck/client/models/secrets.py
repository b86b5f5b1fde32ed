"""Custom secrets and tokens of git providers: written, never read back (contract section d)."""

from dataclasses import dataclass

from pydantic import SecretStr

from quarterdeck.client.models.members import every, members, optional, text


@dataclass(frozen=True)
class CustomSecret:
    """A secret that sandboxes get as an environment variable; its value is never told."""

    name: str
    description: str | None = None

    @property
    def id(self) -> str:
        """What tells it from the others: its name."""
        return self.name


@dataclass(frozen=True)
class ProviderToken:
    """Access to one git provider; a `token` of None keeps the stored one, a `host` of None means the usual one."""

    token: SecretStr | None = None
    host: str | None = None


def read_custom_secret(value: object) -> CustomSecret:
    """Read a custom secret; raises ValueError."""
    given = members(value).get
    return CustomSecret(text(given("name")), optional(text, given("description")))


def read_custom_secrets(value: object) -> tuple[CustomSecret, ...]:
    """Read the answer that lists them all at once; raises ValueError."""
    return every(read_custom_secret, members(value).get("custom_secrets"))
