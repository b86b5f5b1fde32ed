"""Every setting on a real server, one by one and many at random: it is set and unset, and nothing else moves."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import SECRET_FIELDS, Settings
from quarterdeck.client.options import SchemaField
from quarterdeck.client.settings import losses
from tests.live.conftest import Notes
from tests.live.kit import FLAGS, changed, has, refused, settings_of, shown, told, unlike
from tests.live.test_mcp_servers import place
from tests.live.test_values import LEAVES, VALUES

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

TRIED: Mapping[str, Sequence[Any]] = {**VALUES, **LEAVES}
HIDDEN_LEAF = "agent_settings.verification.critic_api_key"


@pytest.mark.parametrize("name", [name for name in TRIED if name not in SECRET_FIELDS])
async def test_a_field_is_set_and_unset_and_no_other_changes(
    editable: Client, schema: Mapping[str, SchemaField], name: str
) -> None:
    record = await existing(editable, name)
    if name == "llm_model":  # of an address that nobody stored, servers show or hide their own with the model
        record = await changed(editable, record, {"llm_base_url": "https://llm.example/v1"})
    tried = list(TRIED[name])
    if "." in name and schema[name].choices:
        tried = [choice.value for choice in schema[name].choices]
    held = shown(record, name)
    for value in sorted(tried, key=lambda value: bool(value == held)):
        gone = with_the_model(editable, record, {name: value})
        before, record = record, await changed(editable, record, {name: value})
        assert shown(record, name) == value
        assert unlike(before, record) == {name, *gone}
    if await unset(editable, record, name):
        before, record = record, await settings_of(editable)
        assert shown(record, name) in ((schema[name].default,) if "." in name else (None, ""))
        assert unlike(before, record) <= {name}


@pytest.mark.parametrize("name", sorted(SECRET_FIELDS))
async def test_a_secret_is_stored_and_cleared_and_no_other_field_changes(
    editable: Client, notes: Notes, name: str
) -> None:
    record = await existing(editable, name)
    flag = FLAGS.get(name)
    for value in VALUES[name]:
        before, record = record, await changed(editable, record, {name: value})
        assert unlike(before, record) <= {flag}
        assert shown(record, name) == told(editable, name, value)
    if await unset(editable, record, name):
        before, record = record, await settings_of(editable)
        assert unlike(before, record) == {flag} - {None}
        assert not shown(record, name)
        cleared_with = editable.server.rules(name).clear_with
        found = "its flag says so" if flag else "the server tells nothing of it"
        notes.add(f"{name}: {cleared_with!r} clears it at once; {found}")


async def test_a_secret_of_the_servers_own_form_is_taken_and_never_told(
    editable: Client, schema: Mapping[str, SchemaField]
) -> None:
    record = await existing(editable, HIDDEN_LEAF)
    assert schema[HIDDEN_LEAF].secret
    for value in (SecretStr("live-check-5"), None):
        now = await changed(editable, record, {HIDDEN_LEAF: value})
        assert now.leaves[HIDDEN_LEAF] is None
        assert unlike(record, now) == set()


def with_the_model(client: Client, record: Settings, changes: Mapping[str, Any]) -> set[str]:
    """The address of the model where it is said to go with these changes."""
    return {loss.field for loss in losses(record, changes, client.server)} & {"llm_base_url"}


async def existing(client: Client, name: str) -> Settings:
    """The record as it is now; skips for a field that this server does not have, which the client must refuse."""
    record, server = await settings_of(client), client.server
    if has(name, record, server):
        return record
    if not server.rules(name).present:
        with refused(ErrorKind.INVALID, unsent=True):
            await client.settings.store(record, {name: VALUES[name][0]})
    pytest.skip(f"this server has no {name}")


async def unset(client: Client, record: Settings, name: str) -> bool:
    """Unset a field, or see the client refuse it where the server would not do it; says which."""
    changes: dict[str, Any] = {name: None}
    if client.server.rules(name).clearable:
        await client.settings.store(record, changes)
        return True
    with refused(ErrorKind.INVALID, unsent=True):
        await client.settings.store(record, changes)
    return False


TYPED = st.text(st.characters(categories=("L", "N", "S", "P"), exclude_characters='"$\\`'), min_size=1, max_size=30)
KEYS = st.text("abcdef0123456789", min_size=4, max_size=12).map(SecretStr)
NAMES = st.text("abcxyz-_019", min_size=1, max_size=8)


def some(servers: st.SearchStrategy[McpServer]) -> st.SearchStrategy[tuple[McpServer, ...]]:
    """Up to two servers of different places."""
    return st.lists(servers, max_size=2, unique_by=place).map(tuple)


SSE = st.builds(SseServer, url=NAMES.map("https://sse.example/{}/sse".format), api_key=KEYS)
SHTTP_URL, SECONDS = NAMES.map("https://http.example/{}".format), st.integers(1, 3600)
STDIO = st.builds(
    StdioServer,
    name=NAMES,
    command=st.sampled_from(["npx", "uvx"]),
    args=st.lists(TYPED, max_size=2).map(tuple),
    env=st.dictionaries(st.sampled_from(["TOKEN", "HOME_PAGE"]), KEYS),
)
VALID: Mapping[str, st.SearchStrategy[Any]] = {
    **{name: st.sampled_from(values) for name, values in TRIED.items()},
    "git_user_name": TYPED,
    "max_iterations": st.integers(1, 10**6),
    "condenser_max_size": st.integers(20, 10**4),
    "max_budget_per_task": st.floats(0.01, 10**4),
    "mcp_config": st.builds(
        McpConfig,
        sse_servers=some(SSE),
        shttp_servers=some(st.builds(ShttpServer, url=SHTTP_URL, api_key=KEYS, timeout=SECONDS)),
        stdio_servers=some(STDIO),
    ),
}
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
    assert unlike(before, after) <= {
        *(FLAGS.get(name, name) for name in asked),
        *with_the_model(editable, before, asked),
    }
    held = {name: (shown(after, name), told(editable, name, value)) for name, value in asked.items()}
    assert {name: pair for name, pair in held.items() if not same(*pair, name)} == {}


def possible(client: Client, record: Settings, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the changes that this server can do: fields that it has, and nothing unset that cannot be."""
    server = client.server
    return {
        name: value
        for name, value in changes.items()
        if has(name, record, server) and (value is not None or server.rules(name).clearable)
    }


def same(found: Any, sent: Any, name: str) -> bool:
    """Whether a record shows what was sent; what is unset is empty, or at the server's own default."""
    return found == sent or (sent is None and ("." in name or found in (None, "", McpConfig())))
