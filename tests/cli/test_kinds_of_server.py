import json
import signal
import tomllib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.flat import KNOWN_BY
from quarterdeck.client.models.mcp import McpConfig, SseServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested import NESTED_SETTINGS
from quarterdeck.config.connections import Connection
from quarterdeck.config.state import StateFiles
from quarterdeck.fleet.ages import utc_now
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.kept import DisabledServers, Journal
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import members
from tests.cli.conftest import Run
from tests.cli.serving import Program, at_an_address
from tests.client.fakes import NO_ROUTE, UNSTORED, Answer, Asked
from tests.client.settings_servers import LOST, STORED, FlatServer, NestedServer
from tests.conftest import Home
from tests.live.conftest import PARAMS

SECRET = "sentinel-in-clear"


def test_what_a_server_of_no_known_release_may_lose_is_named_before_a_save(run: Run) -> None:
    keeper = FlatServer(language="en", search_api_key_set=True, provider_tokens_set={"github": None})
    keeper.ignores = {"language"}
    with at_an_address(keeper) as url:
        assert run("settings", "show", "--json", "--url", url).json["llm_api_key_set"] is None
        lines = run("settings", "show", "--url", url).out.splitlines()
        shown = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines}
        assert (shown["llm_api_key"], shown["search_api_key"]) == ("this server does not tell", "stored")
        plan = run("settings", "set", "language=fr", "--dry-run", "--url", url)
        assert "Without --dry-run this save is refused, because it loses something." in plan.err
        for lost in ("API key", "Search API key", "Sandbox API key", "Git tokens (github) and custom secrets"):
            assert f"loses: {lost}: " in plan.out
        refused = run("settings", "set", "language=fr", "--url", url, status=2)
        assert (refused.out, refused.err.count("\n"), keeper.stores) == ("", 1, 0)
        keys = "llm_api_key, search_api_key, sandbox_api_key"
        for words in ("Git tokens (github) and custom", "keep it, or add --accept-losses.", *keys.split(", ")):
            assert words in refused.err
        ended = run("settings", "set", "language=fr", "--accept-losses", "--url", url, status=1)
    assert ended.out == "0 of 1 changes verified\n"
    assert "language: meant fr · French, but the server holds en · English." in ended.err


def test_a_save_that_would_erase_a_key_is_refused_unless_the_key_or_a_yes_is_given(run: Run) -> None:
    keeper, change = FlatServer(language="en", **dict.fromkeys(KNOWN_BY)), ("settings", "set", "language=fr")
    with at_an_address(keeper) as url:
        refused = run(*change, "--url", url, status=2).err
        assert refused == (
            "quarterdeck: Nothing was saved, because this save loses something: Sandbox API key: if one is stored, "
            "this save erases it, for this server neither tells nor keeps it. "
            "Give sandbox_api_key=- too to keep it, or add --accept-losses.\n"
        )
        refused = run(*change, "--read-only", "--url", url, status=1).err
        assert refused == "quarterdeck: Not saved: This connection is read-only: nothing was sent.\n"
        taken = run("settings", "import", "-", "--url", url, typed="[settings]\nlanguage = 'fr'", status=2).err
        assert "Give sandbox_api_key in a file of `settings import` to keep it" in taken
        lacked = run("settings", "set", "sandbox_grouping_strategy=NO_GROUPING", "--url", url, status=2).err
        assert "'sandbox_grouping_strategy' is not a setting that can be changed." in lacked
        grouping = "settings.sandbox_grouping_strategy = 'NO_GROUPING'"
        left = run("settings", "import", "-", "--url", url, typed=grouping).err
        assert "Left alone: sandbox_grouping_strategy: this server does not have it" in left
        assert keeper.stores == 0
        run(*change, "sandbox_api_key=-", "--url", url, typed="sentinel-kept")
        assert keeper.record["sandbox_api_key"] == "sentinel-kept"
        keeper.record["sandbox_api_key"] = None  # as such a server does: it does not tell it
        assert "Add --accept-losses to save all the same." in run("settings", "undo", "--url", url, status=2).err
        assert (keeper.stores, keeper.record["language"]) == (1, "fr")


def test_a_setting_that_a_server_describes_itself_is_secret_by_its_name(run: Run) -> None:
    fields: list[dict[str, Any]] = [
        {"key": "agent_context.auth_token", "label": "Auth token", "value_type": "string", "secret": False},
        {"key": "agent_context.extra_headers", "label": "Extra headers", "value_type": "object"},
        {"key": "agent_context.mode", "label": "Mode", "value_type": "string", "prominence": "major"},
    ]
    keeper = NestedServer(fields=fields)
    keeper.agent["agent_context"] = {"auth_token": SECRET, "extra_headers": {"Any": SECRET}, "mode": "fast"}
    with at_an_address(keeper) as url:
        for words in ((), ("--json",), ("--all",)):
            shown = run("settings", "show", *words, "--url", url)
            assert SECRET not in shown.out + shown.err
            assert "fast" in shown.out


@pytest.mark.parametrize(("says", "status"), [(STORED, 0), (Answer({"error": "It broke"}, 500), 1), (LOST, 1)])
def test_a_secret_is_accepted_only_where_the_server_said_yes(run: Run, says: Answer | Exception, status: int) -> None:
    keeper = FlatServer(says, llm_api_key_set=True, **dict.fromkeys(KNOWN_BY))
    with at_an_address(keeper) as url:
        command = ("settings", "set", "llm_api_key=-", "--json", "--accept-losses", "--url", url)
        ended = run(*command, typed="sentinel-key", status=status)
    unknown = ["llm_api_key"] if status else []
    assert (ended.json["verified"], ended.json["accepted"], ended.json["not_known"]) == (0, 1 - len(unknown), unknown)
    assert ("Not known whether it is stored: API key." in ended.err) is bool(unknown)
    assert ("sentinel" in ended.out + ended.err, keeper.stores) == (False, 1)


def test_a_save_that_is_stored_despite_an_interrupt_can_be_undone(run: Run) -> None:
    keeper, programs = FlatServer(language="en", **dict.fromkeys(KNOWN_BY)), list[Program]()

    def script(asked: Asked) -> Answer | Exception:
        answer = keeper(asked)
        if asked.method == "POST":
            programs[0].process.send_signal(signal.SIGINT)
            programs[0].process.wait(20)
        return answer

    with at_an_address(script) as url:
        programs.append(Program("settings", "set", "language=fr", "--accept-losses", "--url", url))
        status, err = programs[0].ended()
        said = "quarterdeck: The server may go on and store it. `quarterdeck settings show` shows it then."
        assert (status, err.splitlines()[-1]) == (130, said)
        assert keeper.record["language"] == "fr"
        run("settings", "undo", "--accept-losses", "--url", url)
    assert keeper.record["language"] == "en"


def test_a_server_that_the_deck_disabled_is_taken_back_with_its_key_and_disabled_again(run: Run, home: Home) -> None:
    tool = SseServer(url="https://tools.example/sse", api_key=SecretStr("sentinel-key"))
    keeper, kept_here = FlatServer(**dict.fromkeys(KNOWN_BY)), StateFiles(home.state / "state")
    meant = Draft(Settings(mcp_config=McpConfig.of((tool,)))).change_servers(Servers.disable, 0)
    with at_an_address(keeper) as url:
        about = Connection("", url).about
        kept_here.change(DisabledServers, about, lambda _: DisabledServers(servers=(tool,)))
        kept_here.change(Journal, about, lambda kept: kept.with_save(meant, Settings(), utc_now()))
        planned = run("settings", "undo", "--dry-run", "--url", url).out
        assert "SSE https://tools.example/sse: kept on this machine -> on the service" in planned
        undo = ("settings", "undo", "--accept-losses", "--url", url)
        assert run(*undo).out.endswith("1 of 1 changes verified\n")
        assert keeper.record["mcp_config"]["sse_servers"] == [members(tool)]
        assert kept_here.read(DisabledServers, about).servers == ()
        assert run(*undo).out.endswith("1 of 1 changes verified\n")
        assert keeper.record["mcp_config"]["sse_servers"] == []
        assert kept_here.read(DisabledServers, about).servers == (tool,)


@pytest.fixture
def nested(run: Run) -> Iterator[Run]:
    """Run a command on a server of the nested generation, which describes one more setting itself."""
    timeout = {"key": "llm.timeout", "label": "Timeout", "value_type": "integer", "default": 300}
    with at_an_address(NestedServer(fields=[timeout])) as url:
        yield partial(run, "--url", url)


def test_lesser_settings_are_shown_where_all_are_asked_for_and_what_is_not_taken_is_refused(nested: Run) -> None:
    nested("settings", "set", "language=fr", "max_iterations=30")
    some, everything = (nested("settings", "show", *more) for more in ((), ("--all",)))
    assert "less used settings stand at their defaults; --all lists them too" in some.err
    assert (everything.err, everything.out.count("\n") > some.out.count("\n")) == ("", True)
    always = "max_iterations, agent: This server keeps the stored value when it is cleared; replace it instead.\n"
    assert nested("settings", "set", "max_iterations=", "agent=", status=2).err.endswith(always)
    lacking = nested("settings", "set", "enable_solvability_analysis=on", status=2).err
    assert lacking.endswith("lists those of a server.\n")
    file = 'not_set = ["max_iterations", "agent"]\n[settings]\nlanguage = "de"'
    taken = nested("settings", "import", "-", typed=file)
    assert (taken.out, taken.err) == ("1 of 1 changes verified\n", f"quarterdeck: Left alone: {always}")


def test_the_address_that_goes_with_the_old_model_is_named_before_and_comes_back_with_it(nested: Run) -> None:
    address, change = "https://own.example/v1", ("settings", "set", "llm_model=openai/gpt-5")
    nested("settings", "set", "llm_model=anthropic/claude", f"llm_base_url={address}")
    assert f"Base URL: {address} is cleared" in nested(*change, "--dry-run").out
    assert f"Base URL: {address} is cleared" in nested(*change, status=2).err
    assert nested("settings", "show", "--json").json["llm_base_url"] == address
    nested(*change, "--accept-losses")
    assert f"set: Base URL: not set -> {address}" in nested("settings", "undo").out
    assert nested("settings", "show", "--json").json["llm_base_url"] == address


def test_secrets_of_servers_are_lost_only_where_somebody_says_so(nested: Run) -> None:
    files = {"name": "files", "command": "npx", "env": {"TOKEN": "sentinel-3"}}
    tools: dict[str, Any] = {"url": "https://tools.example/mcp"}
    servers = {"shttp_servers": [tools | {"api_key": "sentinel-2"}], "stdio_servers": [files]}
    slower = json.dumps({"shttp_servers": [tools | {"timeout": 90}]})
    nested("settings", "set", "mcp_config=-", typed=json.dumps(servers))
    assert "key: not told" in nested("settings", "show").out
    told = nested("settings", "show", "--json").json["mcp_config"]
    assert told["shttp_servers"][0]["api_key_set"] is told["stdio_servers"][0]["env_set"] is None
    change = ("settings", "set", "mcp_config=-")
    assert "--accept-losses" in nested(*change, typed=slower, status=2).err
    assert "90" not in nested("settings", "show", "--json").out
    assert "loses something" in nested(*change, "--accept-losses", typed=slower).err
    assert "90" in nested("settings", "show", "--json").out
    gone = nested("settings", "undo", "--accept-losses").err
    assert gone.startswith("quarterdeck: Cannot be brought back, for it is not kept: ")
    assert "if there were any, of the MCP servers tools-example.\n" in gone


def test_a_server_that_was_added_is_taken_back_and_untyped_variables_are_lost_only_after_a_yes(nested: Run) -> None:
    one, two = ({"mcpServers": {"files": {"command": "npx", "env": env}}} for env in ({"A": "1"}, {"B": "2"}))
    change = ("settings", "set", "mcp_config=-")
    nested(*change, typed=json.dumps(one))
    assert nested("settings", "undo").out.endswith("1 of 1 changes verified\n")
    nested(*change, typed=json.dumps(one))
    refused = nested(*change, typed=json.dumps(two), status=2).err
    assert "files: its key and hidden values, if it has any that are not given again." in refused
    nested(*change, "--accept-losses", typed=json.dumps(two))
    gone = nested("settings", "undo", status=1).err
    assert ("of the MCP servers files.\n" in gone, "Changed again" in gone) == (True, False)
    assert "Nothing of the last save can be undone." in gone


def test_the_first_save_keeps_all_that_is_given_of_a_server(run: Run) -> None:
    keeper = NestedServer()

    def script(asked: Asked) -> Answer:
        is_first = (asked.method, asked.path) == ("GET", NESTED_SETTINGS) and not keeper.agent.get("mcp_config")
        return UNSTORED if is_first else keeper(asked)

    tools = {"url": "https://tools.example/mcp", "headers": {"X-Team": "blue"}}
    with at_an_address(script) as url:
        typed = json.dumps({"mcpServers": {"our-tools": tools}})
        assert run("settings", "set", "mcp_config=-", "--url", url, typed=typed).err == ""
    assert keeper.agent["mcp_config"]["our-tools"]["headers"] == {"X-Team": "blue"}


CONVERSATIONS = "/api/v1/app-conversations/search"
GOOD: dict[str, Any] = {"id": "g" * 32, "title": "good one", "sandbox_id": "s", "updated_at": "2026-03-14T10:00:00Z"}
DATES: list[Any] = ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+14:00", "2026-06-30T23:59:60Z", 1e300, -1, True]
DATES += ["2026-03-14T10:00:00", "2026-03-14T10:00:00+05:45", "yesterday", "١٢٣", None, {"a": 1}]
NUMBERS: list[Any] = [-5, 10**400, 1.5, "12", "lots", None, [], True]
TITLES: list[Any] = ["a\nb\tand a tab", "x" * 10_000, "", "   ", "\x1b[2J\x9b5n\u202eabc\u2028", "\ud83d", None, 7]


def answering(path: str, answer: Any) -> AbstractContextManager[str]:
    """A server that has one path, a list or something else; gives its address."""
    known = {"items": answer, "next_page_id": None} if isinstance(answer, list) else answer
    return at_an_address(lambda asked: Answer(known) if asked.path == path else NO_ROUTE)


ODD = [{**GOOD, "created_at": date, "updated_at": date} for date in DATES]
ODD += [{**GOOD, "metrics": {"accumulated_cost": number, "accumulated_token_usage": number}} for number in NUMBERS]
ODD += [{**GOOD, "title": title, "selected_repository": title} for title in TITLES]


def test_conversations_with_odd_members_keep_no_other_from_being_listed(run: Run) -> None:
    records = [{**odd, "id": f"{number:032}"} for number, odd in enumerate(ODD)]
    with answering(CONVERSATIONS, [*records, GOOD]) as url:
        listed = run("--url", url, "conversations", "list", status=1)
        told = run("--url", url, "conversations", "list", "--json", status=1).json
    unread = len(records) + 1 - len(told)
    assert 0 < unread < 10
    assert listed.err == f"quarterdeck: {unread} of {len(records) + 1} records could not be read.\n"
    assert GOOD["id"] in {record["id"] for record in told}
    assert "good one" in listed.out
    assert len(listed.out.splitlines()) == 1 + len(told)
    assert all(line.isprintable() for line in listed.out.splitlines())


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_export_acts_on_no_terminal_and_says_what_is_stored(run: Run, more: tuple[str, ...]) -> None:
    name = "J\u00fcrgen \u202e001\u202c \x9b5n \x1b[2J\x7f\U000e0041"
    with answering("/api/settings", {"llm_model": "a-model", "git_user_name": name}) as url:
        ended = run("--url", url, "settings", "export", *more)
    assert all(line.isprintable() for line in ended.out.splitlines())
    assert (json.loads(ended.out) if more else tomllib.loads(ended.out))["settings"]["git_user_name"] == name


@pytest.fixture(params=PARAMS)
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a real server of a live run (tests/live); commands only read there."""
    key = request.param.key
    monkeypatch.setenv("QUARTERDECK_API_KEY", key.get_secret_value() if key else "")
    return str(request.param.url)


@pytest.mark.live
def test_doctor_finds_it_healthy_and_sees_a_wrong_key(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "release " in run("doctor", "--url", url).out
    monkeypatch.setenv("QUARTERDECK_API_KEY", "surely-not-the-key")
    assert "refused" in run("doctor", "--url", url, status=1).out


@pytest.mark.live
@pytest.mark.parametrize("command", ["settings show", "sandboxes list", "sandboxes specs", "conversations list"])
def test_everything_can_be_read(run: Run, url: str, command: str) -> None:
    run(*command.split(), "--url", url, "--read-only")
    data = run(*command.split(), "--url", url, "--read-only", "--json").json
    assert data is None or isinstance(data, dict | list)
