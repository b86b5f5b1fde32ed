"""Records as JSON for scripts: no secret, and nothing that a server would take for one if it were sent back."""

from typing import Any

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.members import as_json
from quarterdeck.client.models.sandbox import Sandbox, SandboxSpec
from quarterdeck.client.models.settings import LOAD_ONLY, SECRET_FIELDS, Settings
from quarterdeck.settings import masks
from quarterdeck.settings.catalogue import CATALOGUE


def settings_plain(settings: Settings) -> dict[str, Any]:
    """The known fields of a record; of secrets only whether they are stored, where the server tells."""
    record = settings.model_dump(mode="json", exclude={"mcp_config", "secrets_store", "leaves", *SECRET_FIELDS})
    known = {entry.key for entry in CATALOGUE} | set(LOAD_ONLY) | set(type(settings).model_fields)
    plain = {key: _shown(value) for key, value in record.items() if key in known}
    if settings.leaves:
        plain["leaves"] = {place: masks.document(value, place) for place, value in settings.leaves.items()}
    return plain | {"mcp_config": _mcp_plain(settings.mcp_config)}


def sandbox_plain(sandbox: Sandbox) -> dict[str, Any]:
    """A sandbox without its key; addresses without their queries."""
    addresses = [{"name": url.name, "address": url.address, "port": url.port} for url in sandbox.exposed_urls]
    return as_json(sandbox, without={"access"}) | {"exposed_urls": addresses}


def spec_plain(spec: SandboxSpec) -> dict[str, Any]:
    """A spec; of its environment only the names."""
    return as_json(spec, without={"initial_env"}) | {"initial_env_set": sorted(spec.initial_env)}


def conversation_plain(conversation: Conversation) -> dict[str, Any]:
    """A conversation without its sandbox's key and the address that may carry it."""
    return as_json(conversation, without={"session_api_key", "conversation_url"})


def _shown(value: Any) -> Any:
    return masks.address(value) if isinstance(value, str) and "://" in value else value


def _mcp_plain(config: McpConfig | None) -> dict[str, Any] | None:
    if config is None:
        return None
    return {
        "sse_servers": [_remote(server) for server in config.sse_servers],
        "shttp_servers": [_remote(server) | {"timeout": server.timeout} for server in config.shttp_servers],
        "stdio_servers": [_stdio(server) for server in config.stdio_servers],
    }


def _remote(server: SseServer | ShttpServer) -> dict[str, Any]:
    key_set = server.api_key is not None and bool(server.api_key.get_secret_value())
    return {"url": masks.address(server.url), "api_key_set": key_set}


def _stdio(server: StdioServer) -> dict[str, Any]:
    arguments = list(masks.arguments(server.args))
    return {"name": server.name, "command": server.command, "args": arguments, "env_set": sorted(server.env)}
