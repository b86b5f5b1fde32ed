from quarterdeck.draft.complaints import complaint
from quarterdeck.draft.draft import Draft
from quarterdeck.service.models.mcp import McpConfig, SseServer, StdioServer
from quarterdeck.service.models.settings import Settings

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
