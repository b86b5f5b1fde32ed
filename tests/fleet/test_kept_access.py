"""What a sandbox is remembered to be reached by, when its readings tell all of it, some of it, or nothing."""

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.sandbox import NO_ACCESS, Access, Sandbox
from quarterdeck.fleet.sandbox_state import Action, SandboxMemory, after_asking, after_reading

from .fakes import at

HERE = ("AGENT_SERVER", "http://here", 8000)
THERE = ("AGENT_SERVER", "http://there", 8000)
BOTH = Access("one", [HERE])


def after(*readings: tuple[str, Access], memory: SandboxMemory | None = None) -> SandboxMemory:
    for second, (status, access) in enumerate(readings):
        memory = after_reading(memory, Sandbox("abc", status, access=access), at(100.0 * second))
    assert memory is not None
    return memory


def known(memory: SandboxMemory) -> tuple[str | None, list[str]]:
    key = None if memory.key is None else memory.key.get_secret_value()
    return key, [told.url.get_secret_value() for told in memory.urls]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (NO_ACCESS, ("one", ["http://here"])),
        (Access("other"), ("other", ["http://here"])),
        (Access(None, [THERE]), ("one", ["http://there"])),
        (Access("other", [THERE]), ("other", ["http://there"])),
    ],
)
def test_what_a_reading_does_not_tell_stays_as_it_was(told: Access, expected: tuple[str, list[str]]) -> None:
    assert known(after(("RUNNING", BOTH), ("RUNNING", told))) == expected
    assert known(after(("RUNNING", BOTH), ("STARTING", told), ("RUNNING", NO_ACCESS))) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("STARTING", (None, ["http://here"])),
        ("PAUSED", (None, ["http://here"])),
        ("ERROR", (None, [])),
        ("MISSING", (None, [])),
        ("HIBERNATING", (None, [])),
    ],
)
def test_a_key_is_known_of_what_has_run_and_addresses_of_what_may_come_back(
    status: str, expected: tuple[str | None, list[str]]
) -> None:
    assert known(after((status, BOTH))) == expected


def test_a_key_that_a_pause_dropped_does_not_come_back_with_the_addresses() -> None:
    assert known(after(("RUNNING", BOTH), ("PAUSED", BOTH), ("RUNNING", NO_ACCESS))) == (None, ["http://here"])
    assert known(after(("RUNNING", BOTH), ("HIBERNATING", BOTH), ("RUNNING", NO_ACCESS))) == ("one", [])


def test_another_key_of_what_is_paused_is_nothing_new() -> None:
    paused = after(("PAUSED", BOTH))
    assert after(("PAUSED", Access("other", [HERE])), memory=paused) is paused
    assert after(("PAUSED", Access("other", [THERE])), memory=paused) is not paused


def test_a_pause_was_undone_where_another_key_is_told() -> None:
    asked = after_asking(after(("RUNNING", BOTH)), Action.PAUSE, at(1.0))
    assert after(("RUNNING", Access("other", [HERE])), memory=asked).resumed
    assert not after(("RUNNING", Access("one", [THERE])), memory=asked).resumed
    assert not after(("RUNNING", Access(None, [THERE])), memory=asked).resumed


def test_neither_key_nor_address_is_shown() -> None:
    memory = after(("RUNNING", Access("sentinel-1", [("VSCODE", "http://box/?tkn=sentinel-2", None)])))
    assert memory.key == SecretStr("sentinel-1")
    assert "sentinel" not in f"{memory} {memory!r}"
