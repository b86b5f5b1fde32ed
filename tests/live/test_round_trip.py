"""Random valid edits over a random stored record on a real server: every other field stays as it was."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import SECRET_FIELDS, Settings
from tests.live.settings_kit import FLAGS, changed, has_field, settings_of, shown_after_store, unlike
from tests.live.test_leaves import TRIED
from tests.live.test_mcp_servers import place
from tests.live.values import VALUES

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

TYPED = st.text(st.characters(categories=("L", "N", "S", "P"), exclude_characters='"$\\`'), min_size=1, max_size=30)
KEYS = st.text("abcdef0123456789", min_size=4, max_size=12).map(SecretStr)
NAMES = st.text("abcxyz-_019", min_size=1, max_size=8)


def some(servers: st.SearchStrategy[McpServer]) -> st.SearchStrategy[tuple[McpServer, ...]]:
    """Up to two servers of different places."""
    return st.lists(servers, max_size=2, unique_by=place).map(tuple)


MCP = st.builds(
    McpConfig,
    sse_servers=some(st.builds(SseServer, url=NAMES.map("https://sse.example/{}/sse".format), api_key=KEYS)),
    shttp_servers=some(
        st.builds(
            ShttpServer, url=NAMES.map("https://http.example/{}".format), api_key=KEYS, timeout=st.integers(1, 3600)
        )
    ),
    stdio_servers=some(
        st.builds(
            StdioServer,
            name=NAMES,
            command=st.sampled_from(["npx", "uvx"]),
            args=st.lists(TYPED, max_size=2).map(tuple),
            env=st.dictionaries(st.sampled_from(["TOKEN", "HOME_PAGE"]), KEYS),
        )
    ),
)
WIDER: Mapping[str, st.SearchStrategy[Any]] = {
    "git_user_name": TYPED,
    "max_iterations": st.integers(1, 10**6),
    "condenser_max_size": st.integers(20, 10**4),
    "max_budget_per_task": st.floats(0.01, 10**4),
    "mcp_config": MCP,
}
PLACES = {place: st.sampled_from(values) for place, values in TRIED.values()}
LISTED = {name: st.sampled_from(pair) for name, pair in VALUES.items()}
VALID: Mapping[str, st.SearchStrategy[Any]] = {**LISTED, **WIDER, **PLACES}
RECORDS = st.fixed_dictionaries({}, optional=dict(VALID))
EDITS = st.fixed_dictionaries({}, optional={name: st.none() | values for name, values in VALID.items()})


@given(wanted=RECORDS, edits=EDITS)
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    # Every example takes a second of a real server: a failure is told as it came instead of being made small.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
async def test_what_was_not_edited_stays_as_it_was(
    editable: Client, wanted: dict[str, Any], edits: dict[str, Any]
) -> None:
    start = await settings_of(editable)
    before = await changed(editable, start, possible(editable, start, wanted))
    asked = possible(editable, before, edits)
    after = await changed(editable, before, asked)
    assert unlike(before, after) <= {FLAGS.get(name, name) for name in asked}
    assert not_held(editable, after, asked) == {}


def possible(client: Client, record: Settings, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the changes that this server can do: fields that it has, and nothing unset that cannot be."""
    server = client.server
    return {
        name: value
        for name, value in changes.items()
        if (name in record.leaves if "." in name else has_field(name, record, server))
        and (value is not None or server.rules(name).clearable)
    }


def not_held(client: Client, record: Settings, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Changes that the record does not show, with what it shows in their place."""
    found = {name: _read(record, name) for name in asked}
    return {
        name: found[name] for name, value in asked.items() if not _same(found[name], _told(client, name, value), name)
    }


def _read(record: Settings, name: str) -> Any:
    if name in SECRET_FIELDS:
        return getattr(record, FLAGS[name]) if name in FLAGS else None
    return record.leaves.get(name) if "." in name else getattr(record, name, None)


def _told(client: Client, name: str, value: Any) -> Any:
    """What a load says of a value that was sent."""
    if name in SECRET_FIELDS:
        return value is not None if name in FLAGS else None
    hidden = isinstance(value, McpConfig) and client.server.nested
    return shown_after_store(value) if hidden else value


def _same(found: Any, told: Any, name: str) -> bool:
    if "." in name and told is None:
        return True
    return found == told or (told is None and found in (None, "", McpConfig()))
