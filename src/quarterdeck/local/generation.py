"""What differs between the generations of real servers that the service can speak as: paths, and words of refusals."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from quarterdeck.local.answers import OF_FLAT, OF_NESTED, Answers
from quarterdeck.local.changes import Changes
from quarterdeck.local.routes.options import options_router
from quarterdeck.local.routes.secrets import secrets_router
from quarterdeck.local.routes.settings import settings_router
from quarterdeck.local.secrets import Secrets
from quarterdeck.local.settings import Settings
from quarterdeck.local.settings_store import Mode
from quarterdeck.local.store import Store


@dataclass(frozen=True)
class Generation:
    """What the service is like as one generation."""

    mode: Mode
    answers: Answers
    routers: Sequence[APIRouter]
    """Paths of its own, which need the key."""
    llm_model: Callable[[], Awaitable[str | None]]
    """Gives the model that conversations begin with."""
    open_routers: Sequence[APIRouter] = ()
    """Paths of its own, which do not need the key."""
    needs: Sequence[Callable[[], Awaitable[object]]] = ()
    """What has to go well before sandboxes and conversations are told of."""


def generation(mode: Mode, store: Store, changes: Changes) -> Generation:
    """Build what a way to store settings brings along. Blocks for milliseconds."""
    return _nested(store, changes) if mode == "nested" else _flat(mode, store, changes)


def _flat(mode: Mode, store: Store, changes: Changes) -> Generation:
    settings = Settings(store, changes, mode)
    routers = (settings_router(settings), secrets_router(Secrets(store, changes)), options_router())
    return Generation(mode, OF_FLAT, routers, settings.llm_model)


def _nested(store: Store, changes: Changes) -> Generation:
    # Imported here because the deck's own service is flat, and should not wait for these models to be built.
    from quarterdeck.local.nested.settings import NestedSettings
    from quarterdeck.local.routes.nested_options import nested_options_router
    from quarterdeck.local.routes.nested_profiles import nested_profiles_router
    from quarterdeck.local.routes.nested_secrets import nested_secrets_router
    from quarterdeck.local.routes.nested_settings import nested_settings_router
    from quarterdeck.local.routes.web_client import web_client_router

    settings = NestedSettings(store, changes)
    routers = (
        nested_settings_router(settings),
        nested_profiles_router(settings),
        nested_secrets_router(Secrets(store, changes)),
        nested_options_router(),
    )
    return Generation("nested", OF_NESTED, routers, settings.llm_model, (web_client_router(),), needs=(settings.read,))
