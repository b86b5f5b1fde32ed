"""The stored settings of the flat generation (contract section c.1)."""

from typing import Any

from pydantic import ValidationError

from quarterdeck.service.bodies import nested_deeper, read_json, wrong_api
from quarterdeck.service.calls import Call, Repeat
from quarterdeck.service.endpoint import KeyHeader
from quarterdeck.service.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.service.generations import UNASKED, store_body
from quarterdeck.service.models.capabilities import Generation
from quarterdeck.service.models.settings import SECRET_FIELDS, Settings, SettingsChanges
from quarterdeck.service.prepared import PreparedRequest
from quarterdeck.service.sender import Sender

SETTINGS = "/api/settings"
DEEPEST = 50
"""Levels of nesting a record may have; real ones have five."""


class SettingsResource:
    """Loads the settings and stores changes to them; every failure is a ServiceError.

    `server` is what `describe()` found out; until then the server is taken for one that wipes what a body leaves out.
    """

    def __init__(self, sender: Sender, header: KeyHeader) -> None:
        self.server = UNASKED
        self._sender = sender
        self._header = header

    async def load(self, *, background: bool = False) -> Settings | None:
        """Load the stored settings; None when nothing has been stored yet."""
        self._refuse_nested()
        call = Call("GET", SETTINGS, background=background)
        try:
            reply = await self._sender.send(call)
        except ServiceError as error:
            if error.kind is ErrorKind.MISSING:
                return None
            raise
        content = read_json(reply.body, str(call), reply.status)
        if not isinstance(content, dict) or nested_deeper(content, DEEPEST):
            raise wrong_api("The server answered something that is not a settings record.", str(call), reply.status)
        return _record(content, str(call))

    def preview(self, base: Settings | None, changes: SettingsChanges) -> PreparedRequest:
        """Make the exact request that would store these changes to what was loaded, without sending it."""
        self._refuse_nested()
        body = store_body(base, changes, self.server)
        return PreparedRequest("POST", SETTINGS, body, self._sender.base, self._header)

    async def store(self, base: Settings | None, changes: SettingsChanges) -> None:
        """Store changes to what was loaded.

        After a lost answer the settings are read again, and the body is sent once more only if they still equal `base`.
        """
        prepared = self.preview(base, changes)

        async def settle() -> Outcome:
            now = await self.load()
            if now == base:
                return Outcome.NOT_APPLIED
            return Outcome.APPLIED if now is not None and _shows(now, changes) else Outcome.UNKNOWN

        await self._sender.send(Call(prepared.method, prepared.path, body=prepared.body, repeat=Repeat.CHECKED), settle)

    def _refuse_nested(self) -> None:
        if self.server.generation is Generation.NESTED:
            raise ServiceError(
                ErrorKind.NOT_OFFERED,
                "The settings of this server are of a newer kind that cannot be edited here yet.",
                "Sandboxes and conversations work; use its own web page for the settings.",
                outcome=Outcome.NOT_SENT,
            )


def _record(content: dict[str, Any], request: str) -> Settings:
    """Read a record; a member that is null is one that is not set."""
    try:
        return Settings.model_validate({name: value for name, value in content.items() if value is not None})
    except ValidationError as error:
        places = sorted({".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False)})
    words = f"The stored settings cannot be read at {', '.join(places[:3])}."
    raise ServiceError(
        ErrorKind.SHAPE, words, "The server may be of a release not known here.", request=request, status=200
    )


def _shows(now: Settings, changes: SettingsChanges) -> bool:
    """Whether a record shows all changes that can be seen: secrets are never told, and unset text may read as empty."""
    return all(
        getattr(now, name, None) == value or (value is None and getattr(now, name, None) == "")
        for name, value in changes.items()
        if name not in SECRET_FIELDS and name != "secrets_store"
    )
