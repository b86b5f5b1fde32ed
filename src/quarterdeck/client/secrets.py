"""Custom secrets and tokens of git providers, on servers of either generation (SERVERS.md: custom secrets)."""

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.settings import CustomSecret, CustomSecrets, ProviderToken
from quarterdeck.client.paging import Records
from quarterdeck.client.redact import invalid, refuse_unsendable
from quarterdeck.client.refusals import not_offered, offers_nothing
from quarterdeck.client.request import Request, Response, segment
from quarterdeck.client.transport import Transport

FLAT_SECRETS = "/api/secrets"
NESTED_SECRETS = "/api/v1/secrets"
NO_SECRETS = "This server keeps no secrets of this kind."
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""Valid names of environment variables; flat servers accept any name, but cannot delete some."""


class SecretsResource:
    """Lists, creates, changes and deletes secrets; every failure is a ServiceError, NOT_OFFERED if there are none.

    Values can be written and never read.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._records = Records(transport, CustomSecret, NESTED_SECRETS)

    async def list(self) -> tuple[CustomSecret, ...]:
        """Return the names and descriptions of all custom secrets, in the server's order."""
        if self._transport.server.nested:
            try:
                return await self._records.whole()
            except ServiceError as error:
                raise offers_nothing(NO_SECRETS, error) if not_offered(error) else error from None
        response = await self._transport.send(Request("GET", FLAT_SECRETS, lacking=NO_SECRETS))
        return response.read_as(CustomSecrets, "The list of secrets cannot be read.").custom_secrets

    async def create(self, name: str, value: SecretStr, description: str | None = None) -> None:
        """Store a new secret.

        Raises ServiceError: CONFLICT for an existing name, which a nested server would overwrite, and INVALID for a
        name that is not valid for an environment variable.
        """
        _check_name(name)
        if await self._has(name):
            words = f"A secret with the name {name} is there already."
            raise ServiceError(ErrorKind.CONFLICT, words, "Take another name.", outcome=Outcome.NOT_SENT)
        described = {} if description is None else {"description": description}
        await self._write(Request("POST", self._path, body={"name": name, "value": value, **described}))

    async def update(self, name: str, *, new_name: str, description: str | None) -> None:
        """Rename and describe a secret; its value is kept.

        The description is always sent, because a flat server erases a missing one. The list is read afterwards, because
        a server reports success even if it has no secrets: ServiceError(MISSING).
        """
        if new_name != name:
            _check_name(new_name)
        body = {"name": new_name, "description": description or ""}
        await self._write(Request("PUT", f"{self._path}/{segment(name)}", body=body, item=True))
        if not await self._has(new_name):
            raise _gone(name)

    async def replace_value(self, name: str, value: SecretStr) -> None:
        """Give a secret a new value and keep its description: creating one that is there overwrites its value.

        Raises ServiceError: NOT_OFFERED if values cannot be changed, MISSING if there is no such secret.
        """
        if not self._transport.server.nested:
            raise _fixed_value(Outcome.NOT_SENT)
        if not await self._has(name):
            raise _gone(name)
        try:
            await self._write(Request("POST", self._path, body={"name": name, "value": value}))
        except ServiceError as error:
            raise _fixed_value(error.outcome) if error.status == 400 else error from None

    async def delete(self, name: str) -> None:
        """Delete a secret."""
        await self._write(Request("DELETE", f"{self._path}/{segment(name)}", item=True))

    async def set_tokens(self, tokens: Mapping[str, ProviderToken]) -> None:
        """Store the tokens of all git providers: a missing provider is deleted, one without a token keeps its own.

        The server asks each provider. Raises ServiceError(INVALID) if a provider refuses its token, which the server
        reports like a wrong key (SERVERS.md: git tokens).
        """
        given = {
            name: {"token": SecretStr("") if token.token is None else token.token, "host": token.host or ""}
            for name, token in tokens.items()
        }
        path = f"{NESTED_SECRETS}/git-providers" if self._transport.server.nested else "/api/add-git-providers"
        try:
            await self._write(Request("POST", path, body={"provider_tokens": given}))
        except ServiceError as error:
            raise _refused_token(tokens, error) if error.kind is ErrorKind.AUTH else error from None

    async def clear_tokens(self) -> None:
        """Delete the tokens of all git providers."""
        if self._transport.server.nested:
            await self._write(Request("DELETE", f"{NESTED_SECRETS}/git-providers"))
        else:
            await self._write(Request("POST", "/api/unset-provider-tokens"))

    @property
    def _path(self) -> str:
        return NESTED_SECRETS if self._transport.server.nested else FLAT_SECRETS

    async def _has(self, name: str) -> bool:
        return any(secret.name == name for secret in await self.list())

    async def _write(self, request: Request) -> Response:
        """Send a write once, after checking that its values can be sent."""
        refuse_unsendable(request.body or {})
        return await self._transport.send(request._replace(lacking=NO_SECRETS))


def _check_name(name: str) -> None:
    if NAME.fullmatch(name) is None:
        raise invalid(("name",), "a name has letters, digits and underscores, and begins with no digit.")


def _fixed_value(outcome: Outcome) -> ServiceError:
    words = "This server cannot change the value of a secret."
    advice = "Delete the secret and create it anew; between the two there is none."
    return ServiceError(ErrorKind.NOT_OFFERED, words, advice, outcome=outcome)


def _gone(name: str) -> ServiceError:
    return ServiceError(ErrorKind.MISSING, f"There is no secret with the name {name}.", "Read the list again.")


def _refused_token(tokens: Mapping[str, ProviderToken], error: ServiceError) -> ServiceError:
    typed = [name for name, token in tokens.items() if token.token is not None]
    words = f"A provider did not confirm its token: {', '.join(typed or tokens)}."
    advice = "Check the token and its host; a server that cannot reach the provider refuses every token."
    return replace(error, kind=ErrorKind.INVALID, words=words, advice=advice)
