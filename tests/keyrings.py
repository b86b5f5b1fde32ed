"""Keyrings as people meet them: one that works, and one for each way in which they do not.

Their priority is low: the keyring library knows every class there is, and must not choose one of these by itself.
"""

from threading import Event
from typing import Any

from keyring.backend import KeyringBackend


class Good(KeyringBackend):
    priority = 0.1

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.held[service, username]


class Raising(Good):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def get_password(self, service: str, username: str) -> str | None:
        raise self.error

    def set_password(self, service: str, username: str, password: str) -> None:
        raise self.error


class Hanging(Good):
    def __init__(self) -> None:
        super().__init__()
        self.go_on, self.asked = Event(), 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self.go_on.wait(30)
        return super().get_password(service, username)


class Lying(Good):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def get_password(self, service: str, username: str) -> Any:
        return self.answer
