"""No secret is in anything that is written down."""

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import files
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.kept import journal, parked, unsaved
from quarterdeck.settings.mcp import listed
from quarterdeck.settings.mcp_json import without_secrets
from quarterdeck.settings.mcp_secrets import bare, filled, members, missing
from quarterdeck.settings.review import lines
from tests.settings.strategies import MARK, MARKED_SERVER, marked_drafts, saved

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@given(marked_drafts())
def test_no_secret_is_in_a_note_or_a_file(draft: Draft) -> None:
    after = saved(draft)
    exported = files.exported(draft, release="1.6.0")
    written = (
        json.dumps(unsaved.to_note(draft)),
        json.dumps(journal.note_of(draft, after.base, NOON, "1.6.0")),
        json.dumps(journal.note_of(draft, None, NOON, "1.6.0")),
        json.dumps(parked.to_note(draft.to_keep_here, with_secrets=False)),
        files.as_json(exported),
        files.as_toml(exported),
        without_secrets(listed(draft.servers.config())),
        repr(tuple(lines(draft))),
    )
    assert [text for text in written if MARK in text] == []


@given(st.lists(MARKED_SERVER, max_size=3))
def test_a_note_of_parked_servers_has_their_secrets_only_when_asked_to(servers: list[McpServer]) -> None:
    note = json.loads(json.dumps(parked.to_note(servers, with_secrets=True)))
    assert parked.from_note(note) == tuple(servers)
    assert parked.from_note(parked.to_note(servers, with_secrets=False)) == tuple(map(bare, servers))


@given(MARKED_SERVER)
def test_what_is_masked_is_filled_in_again_from_the_server_it_was_made_of(server: McpServer) -> None:
    hidden = bare(server)
    assert MARK not in json.dumps(members(hidden))
    assert bare(hidden) == hidden
    assert filled(hidden, server) == server
    assert bool(tuple(missing(hidden))) == (hidden != server)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda kinds: (
            st.lists(kinds) | st.dictionaries(st.sampled_from(["servers", "transport", "server", "url"]), kinds)
        ),
    )
)
def test_a_note_that_makes_no_sense_is_no_parked_server(note: object) -> None:
    assert isinstance(parked.from_note(note), tuple)
