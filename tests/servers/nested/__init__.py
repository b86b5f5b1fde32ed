"""A server that speaks the nested generation, as release 1.11 does: settings changed by differences."""

from fastapi import Request, Response

from quarterdeck.local.errors import RefusalError
from quarterdeck.local.records import Message, json_answer
from quarterdeck.local.secrets import SecretBody
from quarterdeck.local.service import LocalService
from tests.servers.nested import routes
from tests.servers.nested.record import NestedSettings
from tests.servers.replacing import YES, Before, CheckedTokens

OWN = ("/api/v1/settings", "/api/v1/secrets", "/api/v1/config")
FLAT = ("/api/settings", "/api/secrets", "/api/options", "/api/add-git-providers", "/api/unset-provider-tokens")
"""What the local service has and releases of this generation have not."""


class NestedSecrets(CheckedTokens):
    """Overwrites without asking, keeping the description, and says yes to a deletion while none was ever stored."""

    async def create(self, body: SecretBody) -> Message:
        for secret in (await self.listing())["custom_secrets"]:
            if secret["name"] == body.name:
                await super().delete(body.name)
                kept = secret["description"] if body.description is None else body.description
                body = body.model_copy(update={"description": kept})
        return await super().create(body)

    async def delete(self, name: str) -> Message:
        return YES if await self.read() is None else await super().delete(name)


def nested(service: LocalService) -> Before:
    settings = NestedSettings(service.store)
    secrets = routes.nested_secrets_router(NestedSecrets(service.store))
    of_settings = routes.nested_settings_router(settings), routes.nested_profiles_router(settings)
    server = Before(service, "nested", (*OWN, *FLAT), (*of_settings, secrets, routes.nested_options_router()))
    server.app.add_exception_handler(RefusalError, _on_refusal)
    return server


async def _on_refusal(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)
    return json_answer({"detail": str(error)}, error.status)
