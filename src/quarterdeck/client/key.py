"""A key and the header it travels in."""

from collections.abc import MutableMapping

from pydantic import SecretStr

from quarterdeck.client.endpoint import KeyHeader
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError


class Key:
    """A key that a header can hold; raises ServiceError(LOCAL) for any other."""

    def __init__(self, secret: SecretStr, header: KeyHeader) -> None:
        if not all("!" <= letter <= "~" for letter in secret.get_secret_value()):
            words = "The key has a blank, a line break or a letter in it that a key cannot have."
            raise ServiceError(
                ErrorKind.LOCAL, words, "Copy it again, without what is around it.", outcome=Outcome.NOT_SENT
            )
        self.secret = secret
        self._header = header

    def sign(self, headers: MutableMapping[str, str]) -> None:
        """Add the key to the headers of one request."""
        prefix = "Bearer " if self._header is KeyHeader.BEARER else ""
        headers[self._header.value] = prefix + self.secret.get_secret_value()
