"""A server that speaks the nested generation, as release 1.11 does: settings changed by differences."""

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from quarterdeck.local.answers import Words
from quarterdeck.local.errors import TakenNameError, TokenRefusedError, UnknownNameError
from quarterdeck.local.secrets import Secrets
from quarterdeck.local.service import Generation
from quarterdeck.local.store import Store
from tests.servers.nested.profiles import ProfileRefusedError
from tests.servers.nested.routes import (
    nested_options_router,
    nested_profiles_router,
    nested_secrets_router,
    nested_settings_router,
)
from tests.servers.nested.settings import InvalidSettingsError, NestedSettings, UnreadableSettingsError


def nested(store: Store) -> Generation:
    settings = NestedSettings(store)
    return Generation(
        "nested",
        {
            UnknownNameError: Words(404, "detail"),
            TakenNameError: Words(400, "detail"),
            TokenRefusedError: Words(401, "detail"),
            ProfileRefusedError: Words(409, "detail"),
            InvalidSettingsError: Words(400, "error"),
            UnreadableSettingsError: _crash,
        },
        (
            nested_settings_router(settings),
            nested_profiles_router(settings),
            nested_secrets_router(Secrets(store)),
            nested_options_router(),
        ),
        settings.llm_model,
        needs=(settings.read,),
    )


async def _crash(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("Internal Server Error", 500)
