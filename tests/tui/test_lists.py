"""What the lists show, without a screen."""

import pytest

from quarterdeck.fleet.filters import statuses_in, with_statuses
from quarterdeck.fleet.health import Health
from quarterdeck.tui.columns.details import health_cell
from quarterdeck.tui.opening import can_open_browser


@pytest.mark.parametrize(
    ("typed", "statuses", "words"),
    [
        ("", ("Paused",), "status:paused"),
        ("fix status:error !idle>30m", ("Running", "Paused"), "fix !idle>30m status:running,paused"),
        ("fix status:error", (), "fix"),
        ("", ("Needs you",), 'status:"needs you"'),
    ],
)
def test_the_menu_of_statuses_changes_only_its_token(typed: str, statuses: tuple[str, ...], words: str) -> None:
    assert with_statuses(typed, "status", statuses) == words
    assert statuses_in(words, "status") == tuple(status.casefold() for status in statuses)


@pytest.mark.parametrize(("later", "words_then"), [(0.0, "live now"), (4.9, "live now"), (12.0, "live 10s ago")])
def test_the_age_of_a_healthy_list_moves_in_steps(later: float, words_then: str) -> None:
    health = Health(read_at=100.0, whole_at=100.0, incomplete=False)
    ((said, _),) = health_cell(health, 100.0 + later)
    assert said == words_then


@pytest.mark.parametrize(
    ("environ", "platform", "opens"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "w"}, "linux", True),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "x"}, "darwin", False),
    ],
)
def test_a_browser_is_opened_only_where_one_would_show(environ: dict[str, str], platform: str, opens: bool) -> None:
    assert can_open_browser(environ, platform) is opens
