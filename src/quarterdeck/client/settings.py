"""The stored settings, of either generation."""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from quarterdeck.client.bodies import nested_deeper, read_json, wrong_api
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.generations import UNASKED, canonical_members, settings_path, shows, store_body
from quarterdeck.client.models.server import Generation, Server
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.client.nested import SECTIONS, at_fields
from quarterdeck.client.redact import Location, replace_secrets
from quarterdeck.client.refusals import not_offered
from quarterdeck.client.request import KeyHeader, Repeat, Request, Response
from quarterdeck.client.schema import SCHEMA_PATHS, SchemaField, schema_fields
from quarterdeck.client.transport import Settle, Transport

DEEPEST = 50
"""Levels of nesting a record may have; real ones have five."""
_MARK = "\ue000"
"""Marks the name of a secret in the text until the text is quoted; a private character that JSON leaves as it is."""


@dataclass(frozen=True)
class PreparedRequest:
    """Method, address and body of a request that has not been sent; secrets in the body are still `SecretStr`."""

    method: str
    path: str
    body: Any
    base: str = ""
    header: KeyHeader = KeyHeader.SESSION

    def curl(self) -> str:
        """Write it as a shell command that reads the key and every secret from the environment."""
        prefix = "Bearer " if self.header is KeyHeader.BEARER else ""
        shown = json.dumps(replace_secrets(self.body, _marked), ensure_ascii=False, indent=2)
        data = re.sub(f"{_MARK}(\\w+){_MARK}", r"""'"$\1"'""", shlex.quote(shown))
        return " \\\n  ".join(
            (
                f"curl -X {self.method} {shlex.quote(self.base + self.path)}",
                f'-H "{self.header.value}: {prefix}$QUARTERDECK_API_KEY"',
                "-H 'Content-Type: application/json'",
                f"--data {data}",
            )
        )


class SettingsResource:
    """Loads the settings and stores changes to them; every failure is a ServiceError.

    `server` gives what `describe()` found out. WRONG_API from any request means that the settings are not where they
    were: describe the server again.
    """

    def __init__(self, transport: Transport, header: KeyHeader, server: Callable[[], Server]) -> None:
        self._transport = transport
        self._header = header
        self._server = server

    async def load(self, *, background: bool = False) -> Settings | None:
        """Load the stored settings; None when nothing has been stored yet (SERVERS.md: nothing stored)."""
        request = Request("GET", settings_path(self._server()), background=background)
        try:
            response = await self._send(request)
        except ServiceError as error:
            if error.kind is ErrorKind.MISSING:
                return None
            raise
        content = read_json(response.body, str(request), response.status)
        if not isinstance(content, dict) or nested_deeper(content, DEEPEST):
            words = "The server answered something that is not a settings record."
            raise wrong_api(words, str(request), response.status)
        if self._nested and not any(content.get(section) for section in SECTIONS):
            words = "The server answered a settings record without agent settings."
            raise wrong_api(words, str(request), response.status)
        return _record(canonical_members(content, self._server()), str(request))

    async def schema(self) -> tuple[SchemaField, ...]:
        """Read the server's own description of its settings, canonical fields left out; nothing where there is none."""
        if not self._server().schema:
            return ()
        fields: list[SchemaField] = []
        for section, path in SCHEMA_PATHS.items():
            request = Request("GET", path)
            try:
                response = await self._transport.send(request)
            except ServiceError as error:
                if not_offered(error):
                    continue
                raise
            fields += schema_fields(section, read_json(response.body, str(request), response.status))
        return tuple(fields)

    def preview(self, base: Settings | None, changes: SettingsChanges) -> PreparedRequest:
        """Make the exact request that would store these changes to what was loaded, without sending it.

        Raises ServiceError(INVALID) for what this server would not store as it is meant.
        """
        body = store_body(base, changes, self._server())
        return PreparedRequest("POST", settings_path(self._server()), body, self._transport.url, self._header)

    async def store(self, base: Settings | None, changes: SettingsChanges) -> None:
        """Store changes to what was loaded.

        After a lost answer the settings are read again, and the body is sent once more only if they still equal `base`.
        That it was stored is believed of what can be read back, and a secret cannot.
        """
        prepared = self.preview(base, changes)

        async def settle() -> Outcome:
            now = await self.load()
            if now == base:
                return Outcome.NOT_APPLIED
            return Outcome.APPLIED if now is not None and shows(now, changes, self._server()) else Outcome.UNKNOWN

        request = Request(prepared.method, prepared.path, body=prepared.body, repeat=Repeat.CHECKED)
        try:
            await self._send(request, settle)
        except ServiceError as error:
            error.problems = at_fields(error.problems, changes) if self._nested else error.problems
            raise

    @property
    def _nested(self) -> bool:
        return self._server().generation is Generation.NESTED

    async def _send(self, request: Request, settle: Settle | None = None) -> Response:
        """Send a request to where the settings were found; that they are gone from there is said as what it is."""
        try:
            return await self._transport.send(request, settle)
        except ServiceError as error:
            if error.status in _REFUSED:
                words, advice = _REFUSED[error.status].format(method=request.method), "Ask whoever runs the server."
                raise _instead(error, ErrorKind.NOT_OFFERED, words, advice) from None
            known = self._server() is not UNASKED and self._server().generation is not Generation.NONE
            if known and not_offered(error):
                words = "The settings are not where they were: another kind of server answers at this address now."
                advice = "Connect again, and the deck goes by what answers then."
                raise _instead(error, error.kind, words, advice) from None
            raise


_REFUSED = {
    405: "The server has settings at this path, and does not take {method} there (status 405).",
    410: "The server says that its settings are gone for good (status 410).",
}
"""Answers that say neither that nothing is stored nor that another server answers."""


def _instead(error: ServiceError, kind: ErrorKind, words: str, advice: str) -> ServiceError:
    return ServiceError(kind, words, advice, request=error.request, status=error.status, outcome=error.outcome)


def _record(members: dict[str, Any], request: str) -> Settings:
    """Read a record; an error names the places that cannot be read, and no value."""
    try:
        return Settings.model_validate(members)
    except ValidationError as error:
        places = sorted({".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False)})
    words = f"The stored settings cannot be read at {', '.join(places[:3])}."
    raise ServiceError(
        ErrorKind.SHAPE, words, "The server may be of a release not known here.", request=request, status=200
    )


def _marked(at: Location, _: str) -> str:
    return _MARK + re.sub(r"\W", "_", "_".join(map(str, at)), flags=re.ASCII).upper() + _MARK
