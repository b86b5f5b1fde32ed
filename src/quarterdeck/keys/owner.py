"""Whose key it is."""

from typing import TYPE_CHECKING, NamedTuple

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection


class Owner(NamedTuple):
    """A connection at one origin; a key kept for it is no key of the same name anywhere else."""

    name: str
    origin: str

    @property
    def user(self) -> str:
        """What a keyring calls it."""
        return f"{self.name} {self.origin}"


def owner_of(connection: "Connection") -> Owner | None:
    """Who owns the key of a connection; nobody does for the embedded service, which makes its own."""
    from quarterdeck.client.address import origin_of

    return None if connection.url is None else Owner(connection.name, origin_of(connection.url).lower())


def sendable(text: object, place: str) -> SecretStr | None:
    """A key without the blanks around it, None for nothing; raises ServiceError(LOCAL) for one that cannot be sent."""
    key = SecretStr(text.strip() if isinstance(text, str) else "")
    if any(not "!" <= letter <= "~" for letter in key.get_secret_value()):
        words = f"The key in {place} has a blank, a line break or a letter that cannot be sent."
        raise ServiceError(ErrorKind.LOCAL, words, "Set it to the key alone.", outcome=Outcome.NOT_SENT)
    return key if key.get_secret_value() else None
