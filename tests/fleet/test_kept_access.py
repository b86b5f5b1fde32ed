"""What a sandbox is remembered to be reached by, when its readings tell all of it, some of it, or nothing."""

from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.sandbox import ExposedUrl, Sandbox
from quarterdeck.fleet.sandbox_state import Action, Asked, SandboxMemory, after_reading

from .fakes import at

HERE = "http://here"
THERE = "http://there"


def told_of(key: str | None = None, url: str | None = None) -> dict[str, Any]:
    """What a record tells of how its agent server is reached."""
    urls = () if url is None else (ExposedUrl(name="AGENT_SERVER", url=SecretStr(url), port=8000),)
    return {"session_api_key": key and SecretStr(key), "exposed_urls": urls}


NOTHING, BOTH = told_of(), told_of("one", HERE)


def after(*readings: tuple[str, dict[str, Any]], memory: SandboxMemory | None = None) -> SandboxMemory:
    for second, (status, told) in enumerate(readings):
        memory = after_reading(memory, Sandbox(id="abc", status=status, **told), at(100.0 * second))
    assert memory is not None
    return memory


def known(memory: SandboxMemory) -> tuple[str | None, list[str]]:
    key = None if memory.key is None else memory.key.get_secret_value()
    return key, [told.url.get_secret_value() for told in memory.urls]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (NOTHING, ("one", ["http://here"])),
        (told_of("other"), ("other", ["http://here"])),
        (told_of(None, THERE), ("one", ["http://there"])),
        (told_of("other", THERE), ("other", ["http://there"])),
    ],
)
def test_what_a_reading_does_not_tell_stays_as_it_was(told: dict[str, Any], expected: tuple[str, list[str]]) -> None:
    assert known(after(("RUNNING", BOTH), ("RUNNING", told))) == expected
    assert known(after(("RUNNING", BOTH), ("STARTING", told), ("RUNNING", NOTHING))) == expected


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
    assert known(after(("RUNNING", BOTH), ("PAUSED", BOTH), ("RUNNING", NOTHING))) == (None, ["http://here"])
    assert known(after(("RUNNING", BOTH), ("HIBERNATING", BOTH), ("RUNNING", NOTHING))) == ("one", [])


def test_another_key_of_what_is_paused_is_nothing_new() -> None:
    paused = after(("PAUSED", BOTH))
    assert after(("PAUSED", told_of("other", HERE)), memory=paused) is paused
    assert after(("PAUSED", told_of("other", THERE)), memory=paused) is not paused


def test_a_pause_was_undone_where_another_key_is_told() -> None:
    asked = after(("RUNNING", BOTH))._replace(asked=Asked(Action.PAUSE, at(1.0)))
    assert after(("RUNNING", told_of("other", HERE)), memory=asked).resumed
    assert not after(("RUNNING", told_of("one", THERE)), memory=asked).resumed
    assert not after(("RUNNING", told_of(None, THERE)), memory=asked).resumed


def test_neither_key_nor_address_is_shown() -> None:
    memory = after(("RUNNING", told_of("sentinel-1", "http://box/?tkn=sentinel-2")))
    assert memory.key == SecretStr("sentinel-1")
    assert "sentinel" not in f"{memory} {memory!r}"
