"""Settings records and MCP lists for property tests: few values, so that the three sides often meet."""

from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.service.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.service.models.settings import Settings

WORDS = st.sampled_from(["a", "b", "c"])
KEYS = st.none() | st.builds(SecretStr, WORDS)
ADDRESSES = st.sampled_from(["https://a.example/x", "https://b.example/x"])

SSE = st.builds(SseServer, url=ADDRESSES, api_key=KEYS)
SHTTP = st.builds(ShttpServer, url=ADDRESSES, api_key=KEYS, timeout=st.sampled_from([None, 5, 60]))
STDIO = st.builds(
    StdioServer, name=WORDS, command=st.sampled_from(["npx", "uvx"]), env=st.dictionaries(WORDS, KEYS.filter(bool))
)
ANY_SERVER = SSE | SHTTP | STDIO

PLAIN_FIELDS = {
    "language": st.none() | st.sampled_from(["en", "de", "fr"]),
    "agent": st.none() | WORDS,
    "max_iterations": st.none() | st.integers(1, 3),
    "max_budget_per_task": st.none() | st.sampled_from([1.0, 2.5]),
    "confirmation_mode": st.none() | st.booleans(),
    "enable_sound_notifications": st.booleans(),
    "git_user_name": st.none() | WORDS,
}
FLAGS = {"llm_api_key_set": st.booleans(), "search_api_key_set": st.booleans()}


def one_of_each(servers: st.SearchStrategy) -> st.SearchStrategy:
    """Lists in which no identity comes twice."""
    return st.lists(servers, max_size=3, unique_by=lambda server: getattr(server, "name", None) or server.url)


CONFIGS = st.builds(
    McpConfig,
    sse_servers=one_of_each(SSE).map(tuple),
    shttp_servers=one_of_each(SHTTP).map(tuple),
    stdio_servers=one_of_each(STDIO).map(tuple),
)
RECORDS = st.builds(Settings, mcp_config=CONFIGS, **PLAIN_FIELDS, **FLAGS)
EDITS = st.lists(st.one_of(*(st.tuples(st.just(key), values) for key, values in PLAIN_FIELDS.items())), max_size=6)
