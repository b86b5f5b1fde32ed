"""No secret is in anything that is written down or shown, and no more than that is masked."""

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.mcp import McpServer, StdioServer, listed
from quarterdeck.settings import files, kept, masks
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.masks import MASK
from quarterdeck.settings.mcp_json import without_secrets
from quarterdeck.settings.mcp_server import bare, filled, members, missing
from quarterdeck.settings.review import lines
from tests.settings.strategies import MARK, MARKED_SERVER, marked_drafts, saved

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@given(marked_drafts())
def test_no_secret_is_in_a_note_or_a_file(draft: Draft) -> None:
    after = saved(draft)
    written = (
        kept.with_run(None, "a", draft, NOON, "1").model_dump_json(),
        kept.with_save(None, draft, after.base, NOON).model_dump_json(),
        kept.with_save(None, draft, None, NOON).model_dump_json(),
        files.as_json(files.exported(draft)),
        without_secrets(listed(draft.servers.config())),
        repr(tuple(lines(draft))),
    )
    assert [text for text in written if MARK in text] == []


@given(st.lists(MARKED_SERVER, max_size=3))
def test_disabled_servers_are_kept_with_what_secrets_they_have(servers: list[McpServer]) -> None:
    for each in (tuple(servers), tuple(map(bare, servers))):
        text = kept.DisabledServers(servers=each).model_dump_json()
        assert kept.DisabledServers.model_validate_json(text).servers == each
    assert MARK not in text


@given(MARKED_SERVER)
def test_what_is_masked_is_filled_in_again_from_the_server_it_was_made_of(server: McpServer) -> None:
    hidden = bare(server)
    assert MARK not in json.dumps(members(hidden))
    assert bare(hidden) == hidden
    assert filled(hidden, server) == server
    assert bool(tuple(missing(hidden))) == (hidden != server)


def test_each_of_several_headers_is_filled_in_with_its_own_secret() -> None:
    sent = ("-H", "X-One: secret-one", "-H", "X-One: secret-two", "--quiet")
    server = StdioServer(name="curl", command="curl", args=sent)
    shown = bare(server)
    assert isinstance(shown, StdioServer)
    edited = filled(shown.model_copy(update={"args": (*shown.args[:-1], "--verbose")}), server)
    assert edited == server.model_copy(update={"args": (*sent[:-1], "--verbose")})


def test_addresses_keep_what_identifies_them() -> None:
    assert masks.address("https://a.example:8443/mcp") == "https://a.example:8443/mcp"
    assert masks.address("https://user:pw@a.example/x?token=t&b") == f"https://{MASK}@a.example/x?token={MASK}&{MASK}"


def test_of_arguments_what_may_be_secret_is_masked_and_no_more() -> None:
    given = ["--token", "abc", "--token", "--verbose", "--token", "-v", "-H", "abc", "read the token", "notes.txt"]
    given += ["--api-key=abc", "--api-key=", "run x=1 token: abc", "X-Team: abc", "-p", "8080"]
    given += ["https://abc@a.example/p"]
    assert masks.arguments(given) == [each.replace("abc", MASK) for each in given]
    assert masks.arguments(["--max-tokens", "8080"]) == ["--max-tokens", MASK]


def test_of_a_document_what_is_secret_by_its_name_is_masked_and_no_more() -> None:
    given = {"headers": {"X-Any": "abc", "count": 3}, "auth": {"strategy": "basic", "username": "abc"}}
    given |= {"language": "en", "max_output_tokens": 4096, "deep": {"headers": ["abc"]}}
    assert masks.document(given, "") == json.loads(json.dumps(given).replace("abc", MASK))
    assert masks.document({"api_key": "https://a.example/?for=abc"}, "") == {"api_key": MASK}
