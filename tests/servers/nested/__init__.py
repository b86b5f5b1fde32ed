"""A server that speaks the nested generation, as release 1.11 does: settings changed by differences."""

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from quarterdeck.local.errors import RefusalError
from quarterdeck.local.records import Message, json_answer
from quarterdeck.local.service import Generation
from quarterdeck.local.store import Store
from tests.servers.nested.profiles import nested_profiles_router
from tests.servers.nested.record import InvalidSettingsError, NestedSettings, UnreadableSettingsError
from tests.servers.nested.routes import nested_options_router, nested_secrets_router, nested_settings_router
from tests.servers.replacing import YES, CheckedTokens


class NestedSecrets(CheckedTokens):
    """Overwrites without asking, and answers yes to a deletion as long as nobody ever stored any."""

    overwrites = True

    async def delete(self, name: str) -> Message:
        return YES if await self.read() is None else await super().delete(name)


def nested(store: Store) -> Generation:
    settings = NestedSettings(store)
    return Generation(
        "nested",
        (
            nested_settings_router(settings),
            nested_profiles_router(settings),
            nested_secrets_router(NestedSecrets(store)),
            nested_options_router(),
        ),
        settings.llm_model,
        handlers={RefusalError: _on_refusal, InvalidSettingsError: _on_invalid, UnreadableSettingsError: _crash},
    )


async def _on_refusal(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)
    return json_answer({"detail": str(error)}, error.status)


async def _on_invalid(_request: Request, error: Exception) -> Response:
    return json_answer({"error": str(error)}, 400)


async def _crash(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("Internal Server Error", 500)
