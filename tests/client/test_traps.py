"""The traps of real servers (contract section i): where each is tested, or why it cannot occur here."""

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
SOURCE = TESTS.parent / "src" / "quarterdeck"
NOT_USED: Mapping[str, tuple[str, ...]] = {
    "no operation reads or counts events": ("/events",),
    "no operation speaks to the agent server of a sandbox but the knock, which has no key": ("/api/conversations",),
    "no operation queues or sends messages": ("pending-messages", "send-message"),
}
"""Why a trap cannot occur, and what the source would have in it if it could."""

TRAPS: Mapping[str, tuple[str, ...]] = {
    "T1": (
        "client/test_settings.py::test_a_replacing_server_gets_the_whole_record_with_the_one_change",
        "client/test_settings.py::test_a_save_of_one_field_loses_nothing_of_any_record",
    ),
    "T2": (
        "client/test_settings.py::test_what_a_server_of_no_known_release_may_lose_is_told",
        "settings/test_review.py::test_what_a_replacing_server_loses_is_named_until_it_is_typed_again",
    ),
    "T3": (
        "client/test_nested_settings.py::test_nothing_that_the_server_could_not_read_again_ever_leaves",
        "client/test_nested_settings.py::test_what_the_server_would_ignore_or_never_read_again_is_refused_by_name",
        "client/test_recordings.py::test_a_bricked_account_is_still_described_as_of_its_generation",
    ),
    "T4": (
        "client/test_nested_settings.py::test_only_what_changes_is_sent_and_where_it_belongs",
        "client/test_nested_settings.py::test_an_edit_changes_what_it_names_and_nothing_else",
    ),
    "T5": (
        "client/test_nested_mcp.py::test_every_server_whose_hidden_secrets_are_not_typed_again_is_named",
        "client/test_nested_mcp.py::test_a_change_of_something_else_leaves_the_tool_servers_and_their_secrets_alone",
    ),
    "T6": ("client/test_recordings.py::test_what_a_server_took_to_its_own_harm_is_never_sent",),
    "T7": (
        "client/test_settings.py::test_unsetting_sends_what_clears_the_field_on_a_replacing_server",
        "client/test_nested_settings.py::test_only_what_changes_is_sent_and_where_it_belongs",
    ),
    "T8": (
        "client/test_settings.py::test_a_mask_is_never_sent_as_a_secret",
        "client/test_nested_settings.py::test_what_the_server_would_ignore_or_never_read_again_is_refused_by_name",
        "client/test_secrets.py::test_a_mask_is_not_stored_as_a_secret",
    ),
    "T9": (
        "client/test_describe.py::test_the_generation_and_the_key_are_told_by_two_settings_paths",
        "client/test_describe.py::test_what_answers_behind_one_address_is_found_out_again_when_another_server_is_plugged_in",
    ),
    "T10": (
        "client/test_traps.py::test_a_list_that_answers_without_a_key_proves_nothing_about_the_key",
        "cli/test_live.py::test_doctor_sees_a_wrong_key_although_old_releases_list_without_one",
    ),
    "T11": (
        "fleet/test_sandbox_memory.py::test_one_that_has_run_stays_running_while_it_reads_as_starting",
        "fleet/test_sandbox_memory.py::test_addresses_and_key_are_remembered_while_it_is_quiet",
    ),
    "T12": (
        "fleet/test_sandbox_memory.py::test_a_knock_nobody_answers_is_shown_until_a_running_reading_or_an_answer",
        "client/test_sandboxes.py::test_not_found_on_a_pause_is_about_the_sandbox",
    ),
    "T13": ("client/test_sandboxes.py::test_a_delete_names_one_id_in_both_places",),
    "T14": (
        "client/test_sandboxes.py::test_the_spec_goes_into_the_query_and_there_is_no_body",
        "cli/test_commands.py::test_an_unknown_spec_starts_nothing",
    ),
    "T15": (
        "client/test_conversations.py::test_a_create_may_be_answered_in_any_way",
        "fleet/test_conversations.py::test_a_failure_without_detail_is_explained",
    ),
    "T16": ("client/test_conversations.py::test_a_message_is_sent_as_a_list_of_parts_and_nothing_else_is_made_up",),
    "T17": ("client/test_lists.py::test_many_ids_are_asked_for_in_several_requests",),
    "T18": (
        "no operation reads or counts events",
        "client/test_conversations.py::test_what_is_no_trajectory_is_said",
    ),
    "T19": ("no operation reads or counts events",),
    "T20": ("client/test_lists.py::test_pages_are_followed_by_the_id_each_names_as_it_was_given",),
    "T21": ("client/test_traps.py::test_a_time_without_a_zone_means_utc",),
    "T22": ("client/test_conversations.py::test_ids_are_one_with_and_without_dashes",),
    "T23": ("client/test_secrets.py::test_a_token_that_its_provider_refuses_is_not_a_wrong_key",),
    "T24": (
        "client/test_recordings.py::test_what_a_real_server_echoes_of_a_refused_body_is_not_passed_on",
        "client/test_recordings.py::test_what_the_nested_server_repeats_of_a_refused_value_is_not_passed_on",
        "client/test_errors.py::test_no_secret_is_in_any_log_or_error",
    ),
    "T25": (
        "client/test_secrets.py::test_a_secret_that_is_there_is_never_overwritten_by_a_new_one",
        "client/test_secrets.py::test_a_rename_without_a_description_says_that_there_is_none",
        "client/test_secrets.py::test_a_change_of_nothing_that_the_server_calls_a_success_is_none",
        "client/test_secrets.py::test_a_name_that_could_not_be_deleted_again_is_refused",
    ),
    "T26": (
        "client/test_conversations.py::test_a_server_that_cannot_rename_or_takes_it_and_keeps_the_title_offers_no_renaming",
    ),
    "T27": ("client/test_traps.py::test_deleting_a_conversation_leaves_its_sandbox_to_the_server",),
    "T28": ("no operation speaks to the agent server of a sandbox but the knock, which has no key",),
    "T29": ("client/test_traps.py::test_a_call_that_takes_a_server_long_has_the_time_for_it",),
    "T30": ("fleet/test_watch.py::test_a_refresh_reads_at_once_but_never_twice_in_a_second",),
    "T31": (
        "client/test_nested_settings.py::test_switching_the_agent_kind_is_named_with_what_it_discards",
        "client/test_nested_settings.py::test_a_field_that_the_agent_kind_in_use_lacks_is_refused",
    ),
    "T32": (
        "client/test_settings.py::test_an_address_the_server_filled_in_for_the_old_model_does_not_stay_with_the_new_one",
    ),
    "T33": ("no operation queues or sends messages", "no operation reads or counts events"),
    "T34": ("client/test_traps.py::test_not_found_on_a_pause_does_not_say_that_the_sandbox_is_gone",),
    "T35": (
        "client/test_settings.py::test_any_answer_of_success_is_one",
        "client/test_conversations.py::test_a_create_may_be_answered_in_any_way",
        "client/test_lists.py::test_what_is_no_list_is_an_error_in_words",
    ),
}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_trap_is_in_the_table() -> None:
    assert list(TRAPS) == [f"T{number}" for number in range(1, 36)]


@pytest.mark.parametrize("trap", TRAPS)
def test_what_the_table_names_is_there(trap: str) -> None:
    assert TRAPS[trap]
    for entry in TRAPS[trap]:
        file, colons, name = entry.partition("::")
        assert name in names_in(file) if colons else entry in NOT_USED


@pytest.mark.parametrize("reason", NOT_USED)
def test_a_reason_why_a_trap_cannot_occur_still_holds(reason: str) -> None:
    text = "".join(file.read_text() for file in (SOURCE / "service").rglob("*.py"))
    assert not [path for path in NOT_USED[reason] if path in text]


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


async def test_deleting_a_conversation_leaves_its_sandbox_to_the_server() -> None:
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


async def test_not_found_on_a_pause_does_not_say_that_the_sandbox_is_gone() -> None:
    client, _ = client_of({})
    with pytest.raises(ServiceError) as caught:
        await client.sandboxes.pause("s1")
    assert caught.value.kind is ErrorKind.MISSING
    assert "could not do it" in caught.value.words
    assert "Read the list again" in caught.value.advice
