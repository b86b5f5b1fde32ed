from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
import rich.color
from textual.color import Color
from textual.pilot import Pilot
from textual.theme import Theme

from quarterdeck.config.connections import COLOURS, Colour, Connection
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.paint import GROUNDS, INK
from quarterdeck.tui.text import Shown
from quarterdeck.tui.theme import ROW_BLURRED, ROW_CURSOR, ROW_MARKED, THEMES, tone_variable
from quarterdeck.tui.widgets.bars import HeaderState, right_side
from tests.client.fakes import FakeServer
from tests.fleet.agent import FakeAgent, recorded
from tests.servers import Mode
from tests.tui.fake_fleet import PROD, FakeFleet
from tests.tui.user import LOCAL, NARROW, WIDE, User, Words, answering, connecting, local

NOW = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
RUNNING, PAUSED, MISSING = "7WNtsgQkXv2mB0aLdE1R", "mX2paaHhIiJjKkLlMmNn", "gN3ssiVvWwXxYyZz0011"
Compare = Callable[..., bool]
LISTED = ("", ("1.8.1", "Needs you"))
START_TASK = {
    "id": "f" * 32, "status": "PREPARING_REPOSITORY", "sandbox_id": "Lq93bdAaBbCcDdEeFfGg",
    "request": {"title": "Add tests", "selected_repository": "acme/api", "selected_branch": "main"},
    "created_at": "2026-03-14T15:08:45", "updated_at": "2026-03-14T15:09:20",
}  # fmt: skip


def fleet() -> FakeFleet:
    fleet = FakeFleet(tasks=[START_TASK])
    for sandbox_id, status, created in (
        (RUNNING, "RUNNING", "2026-03-14T11:57:00Z"),
        ("r0sC74PqXn1tYw8uJk2Z", "RUNNING", "2026-03-14T06:06:00Z"),
        ("Lq93bdAaBbCcDdEeFfGg", "STARTING", "2026-03-14T15:09:00Z"),
        (PAUSED, "PAUSED", "2026-03-12T08:00:00Z"),
        ("eR7rorOoPpQqRrSsTtUu", "ERROR", "2026-03-13T08:00:00Z"),
        (MISSING, "MISSING", "2026-02-01T08:00:00Z"),
        ("hB1nat22334455667788", "HIBERNATING", "2026-03-01T08:00:00Z"),
    ):
        fleet.add(sandbox_id, status, created)
        fleet.sandboxes[sandbox_id]["sandbox_spec_id"] = "ghcr.io/example/agent-server:1.8-python"
    place = {"selected_repository": "acme/db", "selected_branch": "v2", "git_provider": "github"}
    for number, title, sandbox_id, agent, more in (
        (7, "Migrate schema", RUNNING, "waiting_for_confirmation", place),
        (6, "Fix login bug", RUNNING, "finished", {"selected_repository": "acme/web"}),
        (5, "Проверить 東京 naïve 👩‍💻 titles", PAUSED, None, {}),
        (4, "[red]not markup[/]", MISSING, None, {}),
    ):
        members: dict[str, object] = {
            "execution_status": agent, "llm_model": "anthropic/claude-sonnet-4-5", **more,
            "updated_at": f"2026-03-14T15:0{number}:00Z", "metrics": {"accumulated_cost": 0.42 * number},
        }  # fmt: skip
        fleet.talk(f"{number:032x}", sandbox_id, title, **members)
    return fleet


def pressing(*steps: tuple[str, Words]) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Keys, and what is to be seen after them, step by step."""

    async def press(pilot: Pilot[int]) -> None:
        assert isinstance(pilot.app, Deck)
        user = User(pilot.app, pilot)
        for keys, sees in steps:
            await user.press(*keys.split(), sees=sees)

    return press


def deck_on(server: FakeServer, folder: Path, theme: str = "quarterdeck-dark") -> Deck:
    return Deck(PROD, connecting(answering(server)), crash_folder=folder, theme=theme, clock=lambda: NOW)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
@pytest.mark.parametrize("theme", ["quarterdeck-dark", "quarterdeck-light"])
def test_sandboxes(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    keys = pressing(LISTED, ("2 down", "HIBERNATING"))
    assert snap_compare(deck_on(fleet().server, tmp_path, theme), terminal_size=size, run_before=keys)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
def test_conversations(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    keys = pressing(LISTED, ("space", "3/7 repository"))
    assert snap_compare(deck_on(fleet().server, tmp_path), terminal_size=size, run_before=keys)


def test_help(snap_compare: Compare, tmp_path: Path) -> None:
    keys = pressing(LISTED, ("question_mark", "Keys: conversations"))
    assert snap_compare(deck_on(fleet().server, tmp_path), terminal_size=NARROW, run_before=keys)


WRITTEN = (
    "# Why\n\nThe *redirect* drops `query`, see [the docs](http://docs).\n\n- one\n- two\n  1. deep\n\n"
    f"```py\n{'print(1) ' * 9}\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| 1, 2 | 日本 |\n\n![a plot](http://plot)"
)


@pytest.mark.parametrize("name", ["03-confirmation-ws", "04-confirmation-always-ws", "10-tools-ws"])
def test_a_recorded_conversation(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    agent, agent.log = FakeAgent(), [event for event in recorded(name) if "id" in event]
    keys = pressing(("", "Fix login"), ("enter", ("polling", "00:")), ("g", ""))
    assert snap_compare(deck_on(FakeServer(agent), tmp_path), terminal_size=(80, 100), run_before=keys)


def test_a_conversation(snap_compare: Compare, tmp_path: Path) -> None:
    """What no recording has: words in each form, what is cut, fails, goes on or was forgotten, and a question."""
    agent = FakeAgent()

    def uses(tool: str, action: dict[str, object], **seen: object) -> None:
        told = {"tool_name": tool, "tool_call_id": f"call{len(agent.log)}"}
        agent.add("ActionEvent", "agent", action=action, **told)
        agent.add("ObservationEvent", observation={"content": ""} | seen, **told)

    pictures = ["data:image/png;base64," + "A" * 4096, "https://pictures.test/1"]
    content = [{"type": "text", "text": "Look:"}, {"type": "image", "image_urls": pictures}]
    agent.add("MessageEvent", "user", llm_message={"role": "user", "content": content})
    agent.says(WRITTEN)
    uses("terminal", {"command": "pytest"}, content="E  assert", exit_code=1)
    uses("terminal", {"command": "make"}, exit_code=-1)
    agent.log[-1]["timestamp"] = "2026-11-24T00:01:34.5"
    uses("terminal", {"command": "x" * 99}, exit_code=0)
    uses("task_tracker", {"command": "plan", "task_list": [{"title": "one", "status": "done"}, {"title": "two"}]})
    uses("file_editor", {"command": "insert", "path": "a.py", "insert_line": 4, "new_str": "one\ntwo"})
    before, after = "\n".join(f"same {number}" for number in range(10)), "\n".join("abcdefghi")
    texts = {f"{age}_str": f"{before}\n{age}\n{after}" for age in ("old", "new")}
    for _ in ("folded", "unfolded"):
        uses("file_editor", {"command": "str_replace", "path": "b.py", **texts}, old_content=texts["old_str"])
    agent.add("ConversationErrorEvent", code="LLMAuthenticationError", detail="bad key")
    for _ in ("folded", "unfolded"):
        agent.add("Condensation", forgotten_event_ids=["a", "b"], summary="what\nwas")
    agent.asks("rm -r build")
    keys = pressing(("", "Fix login"), ("enter", ("polling", "tab answers")), ("k enter k k k enter", ""))
    assert snap_compare(deck_on(FakeServer(agent), tmp_path), terminal_size=(80, 100), run_before=keys)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
@pytest.mark.parametrize("store", ["replace", "nested"])
def test_settings(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], store: Mode) -> None:
    deck = Deck(LOCAL, connecting(local(tmp_path / "data", store)), crash_folder=tmp_path, clock=lambda: NOW)
    edited = ("down enter s e n t i n e l escape", "1 edited")
    keys = pressing(("", "No conversations."), ("3", ("No settings stored yet", "Max iterations")), edited)
    assert snap_compare(deck, terminal_size=size, run_before=keys)


READABLE = 4.5  # WCAG 2.2, 1.4.3: the least contrast of text
PALE = {3, 7, *range(9, 16)}  # the numbers of the terminal's own colours that are seen on black, not on white


def luminance(colour: Color) -> float:
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("tone", Tone)
def test_every_tone_is_readable_on_every_background(theme: Theme, tone: Tone) -> None:
    colour = theme.variables[tone_variable(tone)]
    grounds = [theme.variables[name] for name in (ROW_CURSOR, ROW_BLURRED, ROW_MARKED)]
    grounds += map(str, (theme.background, theme.surface, theme.panel))
    ratios = {ground: round(contrast(colour, ground), 2) for ground in grounds}
    assert min(ratios.values()) >= READABLE, ratios


@pytest.mark.parametrize("tone", [each for each in Tone if each is not Tone.WARN])
def test_with_sixteen_colours_a_tone_is_neither_pale_on_white_nor_dark_on_black(tone: Tone) -> None:
    dark, light = (
        rich.color.Color.parse(theme.variables[tone_variable(tone)]).downgrade(rich.color.ColorSystem.STANDARD).number
        for theme in THEMES
    )
    assert dark in PALE
    assert light not in PALE


@pytest.mark.parametrize("colour", COLOURS)
def test_a_band_can_be_read_and_is_seen_in_both_themes(colour: Colour) -> None:
    assert contrast(GROUNDS[colour], INK) >= READABLE
    assert all(contrast(GROUNDS[colour], str(theme.panel)) >= 3 for theme in THEMES)


@pytest.mark.parametrize("colour", [None, "red"])
def test_the_name_is_shortened_before_it_goes_and_read_only_goes_after_it(colour: Colour | None) -> None:
    connection = Connection("production", colour=colour, read_only=True)
    state = HeaderState(connection, Shown("1.11.0"), cell(Shown("live now"), Tone.GOOD))
    texts = [right_side(state, room).plain for room in range(61)]
    assert "production" in texts[60]
    assert "1.11.0" in texts[60]
    assert not any("READ-ONLY  " in text for text in texts)
    assert any("prod" in text and "production" not in text and "READ-ONLY" in text for text in texts)
    away = state._replace(health=cell(Shown("offline, stale 3m, retry in 12s"), Tone.BAD))
    assert all("pro" in right_side(away, room).plain for room in range(35, 61))
    for room, (text, with_more_room) in enumerate(pairwise(texts)):
        assert len(text) <= min(room, len(with_more_room))
        assert "prod" not in text or "READ-ONLY" in text
