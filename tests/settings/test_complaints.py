from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.save import complaint

STORED = Settings(
    mcp_config=McpConfig(
        sse_servers=(SseServer(url="https://a.example"), SseServer(url="https://b.example")),
        stdio_servers=(StdioServer(name="files", command="npx"),),
    )
)


def test_a_complaint_about_a_field_stands_at_the_field() -> None:
    problem = complaint(Draft(STORED), ("max_iterations",), "too many")
    assert problem is not None
    assert (problem.key, problem.row, problem.stops) == ("max_iterations", None, True)


def test_a_complaint_about_a_server_stands_at_its_row_among_those_that_were_sent() -> None:
    draft = Draft(STORED).remove_server(0)
    problem = complaint(draft, ("mcp_config", "sse_servers", 0, "url"), "bad scheme")
    assert problem is not None
    assert (problem.row, problem.member) == (1, "url")
    problem = complaint(draft, ("mcp_config", "stdio_servers", 7), "bad")
    assert problem is not None
    assert problem.row is None


def test_a_complaint_about_something_unknown_is_left_to_the_message() -> None:
    assert complaint(Draft(STORED), ("v2_enabled",), "no") is None
    assert complaint(Draft(STORED), (), "no") is None


def test_a_complaint_about_a_server_of_a_map_stands_at_the_row_of_that_name() -> None:
    servers = McpConfig(
        sse_servers=(SseServer.model_validate({"url": "https://a.example", "name": "tools.v2"}),),
        shttp_servers=(ShttpServer(url="https://b.example/mcp"), ShttpServer(url="https://b.example/other")),
        stdio_servers=(StdioServer(name="files", command="npx"),),
    )
    draft = Draft(Settings(mcp_config=servers))
    places = {
        ("mcp_config", "tools", "v2", "timeout"): (0, "timeout"),
        ("mcp_config", "b-example"): (1, ""),
        ("mcp_config", "b-example-2", "url"): (2, "url"),
        ("mcp_config", "files", "env", "KEY"): (3, "env"),
        ("mcp_config", "nobody", "url"): (None, ""),
        ("mcp_config",): (None, ""),
    }
    for location, wanted in places.items():
        problem = complaint(draft, location, "bad")
        assert problem is not None
        assert (problem.row, problem.member) == wanted
