"""The stored settings: where either generation keeps them, their records, bodies and losses."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import SecretStr, ValidationError

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.flat import FLAT_SETTINGS, flat_body, flat_losses, flat_members, flat_rules, mcp_body
from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.client.models.server import FieldRules, Generation, KeyState, Server
from quarterdeck.client.models.settings import SECRET_FIELDS, Loss, Settings, SettingsChanges
from quarterdeck.client.nested import (
    NESTED_RULES,
    NESTED_SETTINGS,
    SECTIONS,
    at_fields,
    nested_body,
    nested_losses,
    nested_members,
)
from quarterdeck.client.nested_mcp import shown_after_store
from quarterdeck.client.options import SCHEMA_PATHS, SchemaField, schema_fields
from quarterdeck.client.redact import Location, refuse_unsendable, replace_secrets, secrets_in
from quarterdeck.client.refusals import not_offered, nothing_stored
from quarterdeck.client.request import (
    KeyHeader,
    Request,
    Response,
    nested_deeper,
    read_json,
    wrong_api,
    wrong_shape,
)
from quarterdeck.client.transport import Transport

UNASKED = Server(Generation.FLAT, KeyState.UNPROVEN, fields=flat_rules(merges=False))
"""A server before it has been described: the documented one, at its most destructive."""
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

    def __init__(self, transport: Transport, server: Callable[[], Server]) -> None:
        self._transport = transport
        self._server = server

    @property
    def _path(self) -> str:
        return NESTED_SETTINGS if self._server().nested else FLAT_SETTINGS

    async def load(self, *, background: bool = False) -> Settings | None:
        """Load the stored settings; None when nothing has been stored yet (SERVERS.md: nothing stored)."""
        request = Request("GET", self._path, background=background)
        try:
            response = await self._send(request)
        except ServiceError as error:
            if nothing_stored(error):
                return None
            if error.kind is ErrorKind.MISSING:
                words = f"The server has no settings at this path (status {error.status}): {error.server_words}"
                raise wrong_api(words, str(request), error.status) from None
            raise
        content = read_json(response.body, str(request), response.status)
        if not isinstance(content, dict) or nested_deeper(content, DEEPEST):
            words = "The server answered something that is not a settings record."
            raise wrong_api(words, str(request), response.status)
        if self._server().nested and not any(content.get(section) for section in SECTIONS):
            words = "The server answered a settings record without agent settings."
            raise wrong_api(words, str(request), response.status)
        return _record(nested_members(content) if self._server().nested else flat_members(content), str(request))

    async def schema(self) -> tuple[SchemaField, ...]:
        """Read the server's own description of its settings, canonical fields left out; nothing where there is none."""
        if not self._server().nested:
            return ()
        fields: list[SchemaField] = []
        for section, path in SCHEMA_PATHS.items():
            request = Request("GET", path)
            response = await self._transport.send_if_offered(request)
            if response is not None:
                fields += schema_fields(section, read_json(response.body, str(request), response.status))
        return tuple(fields)

    def preview(self, base: Settings | None, changes: SettingsChanges) -> PreparedRequest:
        """Make the exact request that would store these changes to what was loaded, without sending it.

        Raises ServiceError: INVALID, naming the field, for what this server would not store as it is meant or could not
        read again; WRONG_API for a base that was loaded from a server of the other generation.
        """
        server = self._server()
        _refuse_other_generation(base, server)
        if server.nested:
            refuse_unsendable({name: _plain(value) for name, value in changes.items()})
            body = nested_body(base, changes)
        else:
            body = flat_body(base, changes, server)
            refuse_unsendable(body)
        return PreparedRequest("POST", self._path, body, self._transport.url, self._transport.access.header)

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

        request = Request(prepared.method, prepared.path, body=prepared.body, settle=settle)
        try:
            await self._send(request)
        except ServiceError as error:
            error.problems = at_fields(error.problems, changes) if self._server().nested else error.problems
            raise

    async def _send(self, request: Request) -> Response:
        """Send a request to where the settings were found; that they are gone from there is said as what it is."""
        try:
            return await self._transport.send(request)
        except ServiceError as error:
            if error.status in _REFUSED:
                words, advice = _REFUSED[error.status].format(method=request.method), "Ask whoever runs the server."
                raise replace(error, kind=ErrorKind.NOT_OFFERED, words=words, advice=advice) from None
            known = self._server() is not UNASKED and self._server().generation is not Generation.NONE
            if known and not_offered(error):
                words = "The settings are not where they were: another kind of server answers at this address now."
                advice = "Connect again, and the deck goes by what answers then."
                raise replace(error, words=words, advice=advice) from None
            raise


_REFUSED = {
    405: "The server has settings at this path, and does not take {method} there (status 405).",
    410: "The server says that its settings are gone for good (status 410).",
}
"""Answers that say neither that nothing is stored nor that another server answers."""


def _record(members: dict[str, Any], request: str) -> Settings:
    """Read a record; an error names the places that cannot be read, and no value."""
    try:
        return Settings.model_validate(members)
    except ValidationError as error:
        places = sorted({".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False)})
    raise wrong_shape(f"The stored settings cannot be read at {', '.join(places[:3])}.", request, 200)


def _marked(at: Location, _: str) -> str:
    return _MARK + re.sub(r"\W", "_", "_".join(map(str, at)), flags=re.ASCII).upper() + _MARK


def rules_of(generation: Generation, *, merges: bool) -> Mapping[str, FieldRules]:
    """What a server of this generation does with each field."""
    if generation is Generation.NESTED:
        return NESTED_RULES
    return flat_rules(merges=merges) if generation is Generation.FLAT else {}


def shows(now: Settings, changes: SettingsChanges, server: Server) -> bool:
    """Whether a record shows all of these changes; of a secret it can show only that none is stored."""
    return all(_shown(now, name, value, server) for name, value in changes.items())


def losses(base: Settings | None, changes: SettingsChanges, server: Server) -> tuple[Loss, ...]:
    """What a store of these changes takes away, or may take away, although they do not name it."""
    if base is None:
        return ()
    if server.nested:
        return tuple(nested_losses(base, changes))
    return tuple(flat_losses(base, changes, server))


def _plain(value: Any) -> Any:
    return mcp_body(value) if isinstance(value, McpConfig) else value


def _shown(now: Settings, name: str, value: Any, server: Server) -> bool:
    if isinstance(value, SecretStr) or name == "secrets_store":
        return False
    if name in SECRET_FIELDS:
        return getattr(now, f"{name}_set", None) is False
    if "." in name:
        return value is None or bool(now.leaves.get(name) == value)
    found = getattr(now, name, None)
    if isinstance(value, McpConfig) and server.nested:
        return not secrets_in(mcp_body(value)) and found == shown_after_store(value)
    # An unset text may read as an empty one.
    return bool(found == value) or (value is None and (found == "" or found == McpConfig()))


def _refuse_other_generation(base: Settings | None, server: Server) -> None:
    if base is not None and bool(base.leaves) is not server.nested:
        raise ServiceError(
            ErrorKind.WRONG_API,
            "These settings were read from a server of another kind than the one that answers now.",
            "Read the settings again and repeat the change.",
            outcome=Outcome.NOT_SENT,
        )
