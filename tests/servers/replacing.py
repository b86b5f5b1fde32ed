"""A server of the flat generation that *replaces* as releases 1.2 and 1.6 do."""

from collections.abc import Sequence

from fastapi import APIRouter, Depends
from starlette.types import Receive, Scope, Send

from quarterdeck.local.bodies import SettingsBody
from quarterdeck.local.errors import RefusalError
from quarterdeck.local.records import Message
from quarterdeck.local.secrets import Secrets, Tokens, secrets_router, unless_blank
from quarterdeck.local.service import LocalService, guard, new_app
from quarterdeck.local.settings import DEFAULTS, STORED, Settings, settings_router
from quarterdeck.local.store import Record

SERVER_MEMBERS = {
    "sse_servers": ("url", "api_key"),
    "stdio_servers": ("name", "command", "args", "env"),
    "shttp_servers": ("url", "api_key", "timeout"),
}
KEPT = ("llm_model", "llm_api_key", "llm_base_url", "user_consents_to_analytics", "disabled_skills")


class Before:
    """Answers what begins with one of these paths by these routers, which need the key, and all else as the service."""

    def __init__(self, service: LocalService, store: str, paths: Sequence[str], routers: Sequence[APIRouter]) -> None:
        self._service, self._paths = service, ("/server_info", *paths)
        self.app = new_app(service.store)
        for router in routers:
            self.app.include_router(router, dependencies=[Depends(guard(service.key))])

        @self.app.get("/server_info")
        async def server_info() -> dict[str, str]:
            return {"service": "quarterdeck-local", "settings_store": store}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.app if scope["path"].startswith(self._paths) else self._service.app)(scope, receive, send)


class ReplacingSettings(Settings):
    """Stores whole records and no `secrets_store`."""

    async def save(self, body: SettingsBody) -> Message:
        async with self.store.changing("settings") as documents:
            documents["settings"] = replace(documents["settings"], body.sent())
        return STORED


class CheckedTokens(Secrets):
    """Refuses the token "refused", as its provider would."""

    async def set_tokens(self, provider_tokens: Tokens) -> Message:
        for provider, sent in provider_tokens.items():
            if sent.token and sent.token.get_secret_value() == "refused":
                raise RefusalError(f"The {provider} token is refused.", 401)
        return await super().set_tokens(provider_tokens)


OWN = ("/api/settings", "/api/secrets", "/api/add-git-providers", "/api/unset-provider-tokens")


def replacing(service: LocalService) -> Before:
    store = service.store
    routers = settings_router(ReplacingSettings(store)), secrets_router(CheckedTokens(store))
    return Before(service, "replace", OWN, routers)


def replace(stored: Record | None, sent: Record) -> Record:
    """Store a whole record made of what was sent, as release 1.6 does: most of what it leaves out is wiped."""
    record = DEFAULTS | {name: value for name, value in sent.items() if name in DEFAULTS}
    if stored is not None:
        for name in KEPT:
            if record[name] is None:
                record[name] = stored[name]
        record["search_api_key"] = record["search_api_key"] or stored["search_api_key"]
    for name in ("llm_api_key", "search_api_key", "llm_base_url"):
        record[name] = unless_blank(record[name])
    if record["mcp_config"] is not None:
        record["mcp_config"] = {
            kind: [{name: server[name] for name in members} for server in record["mcp_config"].get(kind, [])]
            for kind, members in SERVER_MEMBERS.items()
        }
    return record
