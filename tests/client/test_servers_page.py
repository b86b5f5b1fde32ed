"""What real servers do (client/SERVERS.md): the tests that hold against it."""

import ast
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.base import moment
from tests.client.exchanges.nested import NESTED
from tests.client.exchanges.replay import Case, exchange, replaying
from tests.client.fakes import Answer, client_of

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "src" / "quarterdeck" / "client" / "SERVERS.md"
TOLD_ONLY = frozenset({"An address of a sandbox", "Filters"})
"""Headings that say only where something is found."""

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "Finding out what answers": (
        "client/test_describe.py::test_the_generation_and_the_key_are_told_by_two_settings_paths",
        "client/test_describe.py::test_what_answers_behind_one_address_is_found_out_again_when_another_server_is_plugged_in",
    ),
    "Nothing stored, and no such path": (
        "client/test_settings.py::test_an_answer_of_something_else_is_never_taken_for_nothing_stored",
        "cli/test_kinds_of_server.py::test_settings_that_are_gone_are_no_first_run",
    ),
    "The key": (
        "client/test_servers_page.py::test_a_list_that_answers_without_a_key_proves_nothing_about_the_key",
        "cli/test_live.py::test_doctor_sees_a_wrong_key_although_old_releases_list_without_one",
    ),
    "Refusals": (
        "client/test_recordings.py::test_what_a_real_server_echoes_of_a_refused_body_is_not_passed_on",
        "client/test_recordings.py::test_what_the_nested_server_repeats_of_a_refused_value_is_not_passed_on",
        "client/test_errors.py::test_no_secret_is_in_any_log_or_error",
        "client/test_errors.py::test_the_servers_own_words_are_found_and_kept_short",
    ),
    "Answers of success": (
        "client/test_settings.py::test_any_answer_of_success_is_one",
        "client/test_conversations.py::test_a_create_may_be_answered_in_any_way",
        "client/test_lists.py::test_what_is_no_list_is_an_error_in_words",
    ),
    "Lists and pages": (
        "client/test_lists.py::test_pages_are_followed_by_the_id_each_names_as_it_was_given",
        "client/test_lists.py::test_records_that_come_again_on_a_later_page_are_left_out",
    ),
    "Batches by id": (
        "client/test_lists.py::test_many_ids_are_asked_for_in_several_requests",
        "client/test_lists.py::test_a_list_that_ignores_the_ids_is_filtered_by_them",
    ),
    "Times and ids": (
        "client/test_servers_page.py::test_a_time_without_a_zone_means_utc",
        "client/test_conversations.py::test_ids_are_one_with_and_without_dashes",
    ),
    "Rate": ("client/test_pace.py::test_no_second_holds_more_turns_than_allowed",),
    "The agent server of a conversation": (
        "client/test_agent_server.py::test_its_key_goes_to_its_own_origin_and_the_servers_key_never",
        "client/test_agent_server.py::test_an_address_of_another_machines_own_is_not_asked",
    ),
    "Its log": (
        "fleet/test_transcript.py::test_in_the_end_it_is_the_servers_log_whatever_was_lost_doubled_or_reordered",
        "fleet/test_transcript.py::test_a_frame_that_no_list_has_goes_again",
    ),
    "Its socket": ("fleet/test_following.py::test_an_old_agent_server_is_asked_and_never_listened_to",),
    "Answers to an agent": (
        "fleet/test_answering.py::test_an_answer_that_was_overheard_is_given_again",
        "fleet/test_answering.py::test_a_message_runs_nothing_that_waits",
    ),
    "Slow calls": ("client/test_servers_page.py::test_a_call_that_takes_a_server_long_has_the_time_for_it",),
    "What a flat store keeps": (
        "client/test_settings.py::test_a_replacing_server_gets_the_whole_record_with_the_one_change",
        "client/test_settings.py::test_a_save_of_one_field_loses_nothing_of_any_record",
    ),
    "A server of no known release": (
        "client/test_settings.py::test_what_a_server_of_no_known_release_may_lose_is_told",
        "cli/test_kinds_of_server.py::test_what_a_server_of_no_known_release_may_lose_is_named_before_a_save",
    ),
    "Secrets of the flat record": (
        "client/test_settings.py::test_what_a_server_of_no_known_release_may_lose_is_told",
        "settings/test_review.py::test_what_a_replacing_server_loses_is_named_until_it_is_typed_again",
    ),
    "Masks": (
        "client/test_settings.py::test_a_mask_is_never_sent_as_a_secret",
        "client/test_nested_settings.py::test_what_the_server_would_ignore_or_never_read_again_is_refused_by_name",
        "client/test_secrets.py::test_a_mask_is_not_stored_as_a_secret",
    ),
    "Unsetting a field": (
        "client/test_settings.py::test_unsetting_sends_what_clears_the_field_on_a_replacing_server",
        "client/test_nested_settings.py::test_only_what_changes_is_sent_and_where_it_belongs",
    ),
    "MCP servers of the flat record": (
        "client/test_settings.py::test_tool_servers_are_sent_with_the_members_they_were_given_and_all_three_lists",
    ),
    "Fields without effect": ("client/test_describe.py::test_a_flat_server_uses_only_some_fields",),
    "The nested record": (
        "client/test_nested_settings.py::test_only_what_changes_is_sent_and_where_it_belongs",
        "client/test_nested_settings.py::test_an_edit_changes_what_it_names_and_nothing_else",
        "client/test_recordings.py::test_what_a_server_took_to_its_own_harm_is_never_sent",
    ),
    "The top level is stored unread": (
        "client/test_nested_settings.py::test_nothing_that_the_server_could_not_read_again_ever_leaves",
        "client/test_nested_settings.py::test_what_the_server_would_ignore_or_never_read_again_is_refused_by_name",
        "client/test_recordings.py::test_a_bricked_account_is_still_described_as_of_its_generation",
    ),
    "The address of a model": (
        "client/test_settings.py::test_an_address_the_server_filled_in_for_the_old_model_does_not_stay_with_the_new_one",
        "client/test_nested_settings.py::test_an_address_of_the_old_provider_does_not_stay_with_a_model_of_another",
        "cli/test_kinds_of_server.py::test_a_change_of_the_model_leaves_no_address_of_the_old_provider",
    ),
    "Agent kinds": (
        "client/test_nested_settings.py::test_switching_the_agent_kind_is_named_with_what_it_discards",
        "client/test_nested_settings.py::test_a_field_that_the_agent_kind_in_use_lacks_is_refused",
    ),
    "MCP servers of the nested record": (
        "client/test_nested_mcp.py::test_every_server_whose_hidden_secrets_are_not_typed_again_is_named",
        "client/test_nested_mcp.py::test_a_change_of_something_else_leaves_the_tool_servers_and_their_secrets_alone",
    ),
    "Objects in the nested record": (
        "client/test_nested_settings.py::test_an_object_is_replaced_although_the_server_merges_it",
    ),
    "Schemas": ("client/test_offers.py::test_a_schema_is_read_with_whole_places_and_without_canonical_fields",),
    "Profiles": ("client/test_offers.py::test_a_name_no_profile_can_have_is_refused",),
    "Custom secrets": (
        "client/test_secrets.py::test_a_secret_that_is_there_is_never_overwritten_by_a_new_one",
        "client/test_secrets.py::test_a_rename_without_a_description_says_that_there_is_none",
        "client/test_secrets.py::test_a_change_of_nothing_that_the_server_calls_a_success_is_none",
        "client/test_secrets.py::test_a_name_that_could_not_be_deleted_again_is_refused",
    ),
    "Git tokens": (
        "client/test_secrets.py::test_a_token_that_its_provider_refuses_is_not_a_wrong_key",
        "client/test_secrets.py::test_all_tokens_go_at_once_and_a_kept_one_is_sent_empty",
    ),
    "Suggestions": ("client/test_offers.py::test_suggestions_of_a_nested_server_are_searched_there",),
    "Starting a sandbox": (
        "client/test_sandboxes.py::test_the_spec_goes_into_the_query_and_there_is_no_body",
        "cli/test_commands.py::test_an_unknown_spec_starts_nothing",
        "fleet/test_watch.py::test_a_refresh_reads_at_once_but_never_twice_in_a_second",
    ),
    "Readings that flap": (
        "fleet/test_sandbox_memory.py::test_one_that_has_run_stays_running_while_it_reads_as_starting",
        "fleet/test_sandbox_memory.py::test_addresses_and_key_are_remembered_while_it_is_quiet",
        "fleet/test_sandbox_memory.py::test_a_knock_nobody_answers_is_shown_until_a_running_reading_or_an_answer",
        "client/test_sandboxes.py::test_not_found_on_a_pause_is_about_the_sandbox",
    ),
    "Pausing and resuming": ("client/test_servers_page.py::test_not_found_on_a_pause_does_not_say_that_it_is_gone",),
    "Deleting a sandbox": ("client/test_sandboxes.py::test_a_delete_names_one_id_in_both_places",),
    "Creating a conversation": (
        "client/test_conversations.py::test_a_create_may_be_answered_in_any_way",
        "fleet/test_conversations.py::test_a_failure_without_detail_is_explained",
        "client/test_conversations.py::test_a_message_is_sent_as_a_list_of_parts_and_nothing_else_is_made_up",
    ),
    "Renaming a conversation": (
        "client/test_conversations.py::test_a_server_that_cannot_rename_or_takes_it_and_keeps_the_title_offers_no_renaming",
    ),
    "Deleting a conversation": ("client/test_servers_page.py::test_deleting_a_conversation_leaves_its_sandbox_alone",),
    "The trajectory": ("client/test_conversations.py::test_what_is_no_trajectory_is_said",),
}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_each_heading_of_the_page_has_its_tests() -> None:
    headings = [line.removeprefix("## ") for line in PAGE.read_text().splitlines() if line.startswith("## ")]
    assert [heading for heading in headings if heading not in TOLD_ONLY] == list(HEADINGS)


@pytest.mark.parametrize("heading", HEADINGS)
def test_what_the_table_names_is_there(heading: str) -> None:
    for entry in HEADINGS[heading]:
        file, _, name = entry.partition("::")
        assert name in names_in(file)


async def test_a_list_that_answers_without_a_key_proves_nothing_about_the_key() -> None:
    absent, unauthorized = Answer({"detail": "Not Found"}, 404), Answer({"detail": "Unauthorized"}, 401)
    client, _ = client_of(
        {
            "GET /api/v1/settings": [absent],
            "GET /api/settings": [unauthorized],
            "GET /api/v1/sandboxes/search": [Answer({"items": []})],
        }
    )
    assert [page.items async for page in client.sandboxes.pages()] == [()]
    assert (await client.describe()).key == "refused"


@pytest.mark.parametrize(
    "text", ["2026-11-20T15:00:00", "2026-11-20T15:00:00Z", "2026-11-20T15:00:00+00:00", "2026-11-20T16:00:00+01:00"]
)
def test_a_time_without_a_zone_means_utc(text: str) -> None:
    assert moment(text) == datetime(2026, 11, 20, 15, tzinfo=UTC)


async def test_deleting_a_conversation_leaves_its_sandbox_alone() -> None:
    for name in ("conv-delete", "conv-delete-shared-sandbox"):
        one = exchange("1.11.0", name)
        client, server = replaying(one, Case())
        case = NESTED[name]
        assert case.use is not None
        await case.use(client, one)
        assert [(asked.method, asked.path) for asked in server.asked] == [("DELETE", one.path)]


def test_a_call_that_takes_a_server_long_has_the_time_for_it() -> None:
    limits = Limits()
    assert limits.start >= 60 > limits.total >= 30
    assert limits.delete >= 30


async def test_not_found_on_a_pause_does_not_say_that_it_is_gone() -> None:
    client, _ = client_of({})
    with pytest.raises(ServiceError) as caught:
        await client.sandboxes.pause("s1")
    assert caught.value.kind is ErrorKind.MISSING
    assert "could not do it" in caught.value.words
    assert "Read the list again" in caught.value.advice
