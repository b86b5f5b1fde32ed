"""The stored settings: where each generation keeps them, how they are read and written, and what a store loses."""

import json
import re
import shlex
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import ValidationError

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.flat import FLAT_SETTINGS, UNASKED, flat_body, flat_losses, flat_members, mcp_body
from quarterdeck.client.models.base import deeper
from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.client.models.server import Generation, Server
from quarterdeck.client.models.settings import Loss, Settings, SettingsChanges
from quarterdeck.client.nested import (
    CANONICAL,
    NESTED_SETTINGS,
    SECTIONS,
    at_fields,
    nested_body,
    nested_losses,
    nested_members,
)
from quarterdeck.client.options import SchemaField, read_schema
from quarterdeck.client.redact import Location, refuse_unsendable, replace_secrets
from quarterdeck.client.refusals import not_offered, nothing_stored
from quarterdeck.client.request import WRONG_ADDRESS, KeyHeader, Request, Response
from quarterdeck.client.transport import Transport

REFUSED_METHOD = 405
_MARK = "\ue000"
"""Encloses the name of a secret until the text is quoted for the shell; a private character, unchanged by JSON."""


class PreparedRequest(NamedTuple):
    """A request that has not been sent; secrets in its body are still `SecretStr`."""

    request: Request
    url: str
    header: KeyHeader

    def curl(self) -> str:
        """Return it as a shell command that reads the key and every secret from environment variables."""
        key = self.header.holding("$QUARTERDECK_API_KEY")
        shown = json.dumps(replace_secrets(self.request.body, _marked), ensure_ascii=False, indent=2)
        data = re.sub(f"{_MARK}(\\w+){_MARK}", r"""'"$\1"'""", shlex.quote(shown))
        return " \\\n  ".join(
            (
                f"curl -X {self.request.method} {shlex.quote(self.url)}",
                f'-H "{self.header.value}: {key}"',
                "-H 'Content-Type: application/json'",
                f"--data {data}",
            )
        )


class SettingsResource:
    """Loads the settings and stores changes to them; every failure is a ServiceError.

    WRONG_API means that the settings are no longer at this path: call `describe()` again.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @property
    def _path(self) -> str:
        return NESTED_SETTINGS if self._transport.server.nested else FLAT_SETTINGS

    async def load(self) -> Settings | None:
        """Load the stored settings; None before the first store (SERVERS.md: nothing stored, and no such path)."""
        try:
            response = await self._send(Request("GET", self._path))
        except ServiceError as error:
            if nothing_stored(error):
                return None
            if error.kind is ErrorKind.MISSING:
                words = f"The server has no settings at this path (status {error.status}): {error.server_words}"
                raise replace(error, kind=ErrorKind.WRONG_API, words=words, advice=WRONG_ADDRESS) from None
            raise
        content, nested = response.json(), self._transport.server.nested
        if not _is_record(content, nested=nested):
            raise response.wrong_api("The server answered something that is not a settings record.")
        try:
            return Settings.model_validate(nested_members(content) if nested else flat_members(content))
        except ValidationError as error:
            places = sorted({".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False)})
            raise response.wrong_shape(f"The stored settings cannot be read at {', '.join(places[:3])}.") from None

    async def schema(self) -> tuple[SchemaField, ...]:
        """Return the server's own description of its settings, without canonical fields; empty if it has none."""
        if not self._transport.server.nested:
            return ()
        fields = [field for section in SECTIONS for field in await read_schema(self._transport, section)]
        return tuple(field for field in fields if field.place not in CANONICAL)

    def preview(self, base: Settings | None, changes: SettingsChanges) -> PreparedRequest:
        """Return the exact request that would store these changes to a loaded record.

        Raises ServiceError: INVALID, with the field, if the server would store something else or could not read it
        again; WRONG_API if `base` was loaded from a server of the other generation.
        """
        server = self._transport.server
        if base is not None and bool(base.leaves) is not server.nested:
            words = "These settings were read from a server of another kind than the one that answers now."
            advice = "Read the settings again and repeat the change."
            raise ServiceError(ErrorKind.WRONG_API, words, advice, outcome=Outcome.NOT_SENT)
        if server.nested:
            plain = {
                name: mcp_body(value) if isinstance(value, McpConfig) else value for name, value in changes.items()
            }
            refuse_unsendable(plain)
            body = nested_body(base, changes)
        else:
            body = flat_body(base, changes, server)
            refuse_unsendable(body)
        request, transport = Request("POST", self._path, body=body), self._transport
        return PreparedRequest(request, transport.url + request.path, transport.access.header)

    async def store(self, base: Settings | None, changes: SettingsChanges) -> None:
        """Store changes to a loaded record; if the response is lost, only a load shows whether they were stored."""
        request = self.preview(base, changes).request
        try:
            await self._send(request)
        except ServiceError as error:
            error.problems = at_fields(error.problems, changes) if self._transport.server.nested else error.problems
            raise

    async def _send(self, request: Request) -> Response:
        """Send a request to the settings path; if that path is gone, the error says that the server has changed."""
        try:
            return await self._transport.send(request)
        except ServiceError as error:
            known = self._transport.server is not UNASKED and self._transport.server.generation is not Generation.NONE
            if known and not_offered(error) and error.status != REFUSED_METHOD:
                words = "The settings are not where they were: another kind of server answers at this address now."
                advice = "Try again in a moment: then it is known what answers."
                raise replace(error, words=words, advice=advice) from None
            raise


def _is_record(content: Any, *, nested: bool) -> bool:
    """Whether a response is a settings record; a nested one has sections."""
    if not isinstance(content, dict) or deeper(content):
        return False
    sections = [content.get(name) or {} for name in SECTIONS]
    return not nested or (any(sections) and all(isinstance(section, dict) for section in sections))


def _marked(at: Location, _secret: str, _begins: int | None) -> str:
    return _MARK + re.sub(r"\W", "_", "_".join(map(str, at)), flags=re.ASCII).upper() + _MARK


def losses(base: Settings | None, changes: SettingsChanges, server: Server) -> tuple[Loss, ...]:
    """Return the stored values that a store of these changes removes, or may remove, without naming them."""
    if base is None:
        return ()
    if server.nested:
        return tuple(nested_losses(base, changes))
    return tuple(flat_losses(base, changes, server))
