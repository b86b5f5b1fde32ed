"""Converting, folding and finding rows again."""

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp import converted, duplicates
from quarterdeck.settings.verify import verify

FILES = StdioServer(name="files", command="npx", env={"K": SecretStr("v")})
TOOLS = SseServer.model_validate({"url": "https://a.example/mcp", "api_key": "k", "transport": "sse", "icon": "i"})


def test_converting_keeps_what_both_transports_have() -> None:
    http = converted(TOOLS)
    assert isinstance(http, ShttpServer)
    assert (http.url, http.api_key, http.model_extra) == (TOOLS.url, TOOLS.api_key, {"icon": "i"})
    back = converted(http.model_copy(update={"timeout": 5}))
    assert back == SseServer.model_validate({"url": TOOLS.url, "api_key": "k", "icon": "i"})
    assert converted(FILES) is None


def test_a_converted_server_takes_the_place_of_the_old_one() -> None:
    stored = Settings(mcp_config=McpConfig(sse_servers=(TOOLS,)))
    http = converted(TOOLS)
    assert isinstance(http, ShttpServer)
    draft = Draft(stored).edit_server(0, http)
    assert draft.changes["mcp_config"] == McpConfig(shttp_servers=(http,))
    assert verify(draft, stored).untouched
    assert verify(draft, stored.model_copy(update={"mcp_config": draft.changes["mcp_config"]})).good == 1


def test_equal_servers_are_folded_to_the_first_and_unequal_ones_are_left() -> None:
    other = FILES.model_copy(update={"env": {"K": SecretStr("w")}})
    config = McpConfig(sse_servers=(TOOLS, TOOLS, TOOLS), stdio_servers=(FILES, other, FILES))
    draft = Draft(Settings(mcp_config=config))
    assert duplicates(draft.servers) == ((0, 1, 2), (3, 5))
    folded = draft.remove_duplicates()
    assert folded.changes["mcp_config"] == McpConfig(sse_servers=(TOOLS,), stdio_servers=(FILES, other))
    assert not duplicates(folded.servers)
    assert len(folded.past) == 1
    assert not folded.undo().edited


def test_a_disabled_copy_is_no_duplicate() -> None:
    draft = Draft(Settings(mcp_config=McpConfig(stdio_servers=(FILES, FILES))))
    assert not duplicates(draft.disable_server(0).servers)
