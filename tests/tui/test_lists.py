"""What the lists show, without a screen."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.bulk import plan
from quarterdeck.fleet.filters import statuses_in, with_statuses
from quarterdeck.fleet.health import Health, HealthState
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import why_not_pause
from quarterdeck.fleet.sandboxes import SandboxRow, sandbox_row
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.lists import arrangement
from quarterdeck.tui.lists.arrangement import AT_ONCE, CALM, SETTLES, SOON, Arrangement
from quarterdeck.tui.lists.listing import health_cell
from quarterdeck.tui.lists.live_rows import RowChanges
from quarterdeck.tui.lists.plans import plan_lines
from quarterdeck.tui.lists.sandboxes import SandboxListing
from quarterdeck.tui.opening import can_open_browser

NOW = datetime(2026, 3, 14, 15, 0, tzinfo=UTC)


def rows_of(*pairs: tuple[str, str]) -> list[SandboxRow]:
    memories = SandboxMemories()
    records = [Sandbox(id=sandbox_id, status=status, sandbox_spec_id=f"spec-{status}") for sandbox_id, status in pairs]
    memories.observe(records, NOW, beginning=False)
    return [sandbox_row(record, memories.by_id[record.id], ()) for record in records]


def words(cells: list[Cell]) -> str:
    return "\n".join("".join(text for text, _ in cell) for cell in cells)


@dataclass
class Chosen:
    """A list as a person arranged it."""

    rows: dict[str, SandboxRow]
    arrangement: Arrangement[SandboxRow]

    def take(
        self,
        rows: list[SandboxRow],
        *,
        moment: float,
        gone: tuple[str, ...] = (),
        visible: str = "",
        cursor: str | None = None,
    ) -> None:
        changes = RowChanges({row.id: row for row in rows}, frozenset(gone))
        self.rows.update(changes.changed)
        for row_id in gone:
            del self.rows[row_id]
        self.arrangement.take(changes, NOW, moment, visible=visible, cursor=cursor)

    @property
    def ids(self) -> list[str]:
        return list(self.arrangement.ids)


@pytest.fixture
def chosen() -> Chosen:
    rows: dict[str, SandboxRow] = {}
    return Chosen(rows, Arrangement(SandboxListing(), rows))


def test_rows_keep_their_places_while_the_cursor_moves_and_settle_after(chosen: Chosen) -> None:
    chosen.take(rows_of(("a", "RUNNING"), ("b", "RUNNING")), moment=0.0)
    chosen.arrangement.moved(100.0)
    chosen.take(rows_of(("b", "ERROR"), ("c", "ERROR")), moment=101.0)
    assert chosen.ids == ["a", "b", "c"]
    assert chosen.arrangement.settle(NOW, 100.0 + SETTLES)
    assert chosen.ids == ["b", "c", "a"]


def test_rows_change_places_only_now_and_then_but_come_and_go_at_once(chosen: Chosen) -> None:
    chosen.take(rows_of(("a", "RUNNING"), ("b", "RUNNING"), ("c", "PAUSED")), moment=100.0)
    chosen.take(rows_of(("a", "PAUSED")), moment=101.0, visible="abc")
    assert chosen.ids == ["a", "b", "c"]
    assert not chosen.arrangement.settle(NOW, 100.0 + CALM - 1)
    assert chosen.arrangement.settle(NOW, 100.0 + CALM)
    assert not chosen.arrangement.held
    assert chosen.ids == ["b", "a", "c"]
    chosen.take(rows_of(("b", "PAUSED")), moment=140.0, visible="abc")
    chosen.take(rows_of(("d", "RUNNING")), moment=141.0, visible="abc")
    assert chosen.ids == ["d", "a", "b", "c"]


@pytest.mark.parametrize(("visible", "comes_after"), [("ab", SOON), ("abc", CALM)])
def test_trouble_off_the_screen_comes_onto_it_soon(chosen: Chosen, visible: str, comes_after: float) -> None:
    chosen.take(rows_of(("a", "RUNNING"), ("b", "RUNNING"), ("c", "RUNNING")), moment=100.0)
    chosen.take(rows_of(("c", "ERROR")), moment=101.0, visible=visible)
    assert chosen.arrangement.held
    assert not chosen.arrangement.settle(NOW, 100.0 + comes_after - 1)
    assert chosen.arrangement.settle(NOW, 100.0 + comes_after)
    assert chosen.ids == ["c", "a", "b"]


def test_the_row_under_the_cursor_keeps_its_place_until_the_cursor_leaves_it(chosen: Chosen) -> None:
    chosen.take(rows_of(("a", "ERROR"), ("b", "ERROR"), ("c", "RUNNING")), moment=100.0)
    chosen.take(rows_of(("a", "PAUSED"), ("c", "PAUSED")), moment=101.0, visible="abc", cursor="a")
    assert not chosen.arrangement.settle(NOW, 1000.0, cursor="a")
    chosen.take(rows_of(("b", "RUNNING"), ("d", "ERROR")), moment=1001.0, visible="abc", cursor="a")
    assert chosen.ids == ["a", "d", "b", "c"]
    assert chosen.arrangement.held
    assert chosen.arrangement.settle(NOW, 1001.0 + CALM, cursor="b")
    assert chosen.ids == ["d", "b", "a", "c"]
    assert not chosen.arrangement.held


def test_a_row_whose_place_is_right_anyway_holds_nothing_up(chosen: Chosen) -> None:
    chosen.take(rows_of(("a", "RUNNING"), ("b", "PAUSED"), ("c", "PAUSED")), moment=100.0)
    chosen.take(rows_of(("c", "MISSING"), ("a", "ERROR")), moment=101.0, visible="abc")
    assert not chosen.arrangement.held
    assert chosen.ids == ["a", "b", "c"]


def test_sorting_takes_effect_at_once_even_while_the_cursor_moves(chosen: Chosen) -> None:
    chosen.take(rows_of(("a", "PAUSED"), ("b", "ERROR")), moment=0.0)
    chosen.arrangement.moved(100.0)
    chosen.arrangement.sort_by("sandbox", NOW, reverse=True)
    assert chosen.ids == ["b", "a"]


def test_the_columns_to_sort_by_go_round_to_the_default_order(chosen: Chosen) -> None:
    arrangement = chosen.arrangement
    seen = []
    for _ in range(20):
        arrangement.sort_by(arrangement.next_column, NOW, reverse=False)
        seen.append(arrangement.column)
        if arrangement.column is None:
            break
    assert seen[0] == "status"
    assert seen[-1] is None
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("typed", "ids"),
    [("", ["a", "b"]), ("status:paused", ["a"]), ("!paused", ["b"]), ("spec:err", ["b"]), ("id:a", ["a"]), ("zzz", [])],
)
def test_tokens_of_the_filter_look_where_they_say(chosen: Chosen, typed: str, ids: list[str]) -> None:
    chosen.take(rows_of(("a", "PAUSED"), ("b", "ERROR")), moment=0.0)
    chosen.arrangement.filter_by(typed, NOW)
    assert sorted(chosen.ids) == ids


@given(
    typed=st.sampled_from(["", "status:run", "!paused", "idle>1m", "orphan a"]),
    column=st.sampled_from([None, "status", "sandbox", "spec", "agent"]),
    reverse=st.booleans(),
    steps=st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["RUNNING", "PAUSED", "ERROR", "ODD"])),
            st.sets(st.sampled_from("abcdefgh")),
        ),
        max_size=8,
    ),
    few=st.sampled_from([1, 2, AT_ONCE]),
)
def test_changes_taken_one_by_one_give_what_all_rows_together_give(
    typed: str, column: str | None, reverse: bool, steps: list[tuple[dict[str, str], set[str]]], few: int
) -> None:
    rows: dict[str, SandboxRow] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrangement, "AT_ONCE", few)
        taken = taken_step_by_step(rows, typed, column, reverse, steps)
    at_once = Arrangement(SandboxListing(), rows)
    at_once.sort_by(column, NOW, reverse=reverse)
    at_once.filter_by(typed, NOW)
    assert taken.ids == at_once.ids


def taken_step_by_step(
    rows: dict[str, SandboxRow],
    typed: str,
    column: str | None,
    reverse: bool,
    steps: list[tuple[dict[str, str], set[str]]],
) -> Chosen:
    step_by_step = Chosen(rows, Arrangement(SandboxListing(), rows))
    step_by_step.arrangement.sort_by(column, NOW, reverse=reverse)
    step_by_step.arrangement.filter_by(typed, NOW)
    for changed, gone in steps:
        step_by_step.take(rows_of(*changed.items()), moment=0.0, gone=tuple(gone & rows.keys() - changed.keys()))
    while step_by_step.arrangement.settle(NOW, CALM):
        pass
    return step_by_step


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


def test_a_plan_names_what_it_does_and_why_it_leaves_rows_out() -> None:
    rows = rows_of(("aaaaaaaa", "RUNNING"), ("bbbbbbbb", "PAUSED"), ("cccccccc", "RUNNING"))
    planned = plan(rows, lambda row: why_not_pause(row.state(NOW)), {"cccccccc"})
    said = words(plan_lines("Pause", planned))
    assert "1 will be paused\n  aaaaaa" in said
    assert "1 skipped\n  bbbbbb  It is paused already" in said
    assert "1 marked, but hidden by the filter: left out\n  cccccc" in said
    assert "2 will be paused" in words(plan_lines("Pause", planned, with_hidden=True))


@pytest.mark.parametrize(("later", "words_then"), [(0.0, "live now"), (4.9, "live now"), (12.0, "live 10s ago")])
def test_the_age_of_a_healthy_list_moves_in_steps(later: float, words_then: str) -> None:
    health = Health(HealthState.ONLINE, read_at=100.0, incomplete=False)
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
