"""Where keys are found and kept: keyrings as they are, a private file, and the rules of both."""

import asyncio
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked
from pydantic import SecretStr

from quarterdeck.config.files import ConfigError
from quarterdeck.config.keys import (
    KeyChain,
    KeyFile,
    KeyringUnavailableError,
    Owner,
    Place,
    SystemKeyring,
    UnusableKeyError,
)
from tests.keyrings import Forgetful, Good, Hanging, Lying, Raising

SENTINEL = "sentinel-key-77ad"
KEY = SecretStr(SENTINEL)
WORK = Owner("work", "https://work.example")


def ring(backend: KeyringBackend, patience: float = 3.0) -> SystemKeyring:
    return SystemKeyring(lambda: backend, patience)


def missing() -> KeyringBackend:
    raise ImportError


async def test_a_keyring_that_raises_or_cannot_be_loaded_is_not_available() -> None:
    backends = (Raising(KeyringLocked(SENTINEL)), Raising(KeyError(SENTINEL)), Raising(OSError()))
    rings = (*map(ring, backends), SystemKeyring(missing))
    for call in (call for each in rings for call in (each.read(WORK), each.keep(WORK, KEY), each.forget(WORK))):
        with pytest.raises(KeyringUnavailableError) as caught:
            await call
        assert SENTINEL not in repr(caught.value)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    backend = Hanging()
    yield backend
    backend.go_on.set()


async def test_a_keyring_that_hangs_is_left_after_its_time_and_not_asked_again(hanging: Hanging) -> None:
    waiting = ring(hanging, 0.2)
    started = time.monotonic()
    with pytest.raises(KeyringUnavailableError):
        await waiting.read(WORK)
    assert 0.15 < time.monotonic() - started < 2
    started = time.monotonic()
    with pytest.raises(KeyringUnavailableError):
        await waiting.read(WORK)
    assert time.monotonic() - started < 0.1
    assert hanging.asked == 1


async def test_the_loop_goes_on_while_a_keyring_hangs(hanging: Hanging) -> None:
    reading = asyncio.create_task(ring(hanging, 5).read(WORK))
    while not hanging.asked:
        await asyncio.sleep(0)
    hanging.go_on.set()
    assert await reading is None


def test_an_answer_that_comes_too_late_reaches_nobody(hanging: Hanging) -> None:
    async def ask() -> None:
        with pytest.raises(KeyringUnavailableError):
            await ring(hanging, 0.05).read(WORK)

    asyncio.run(ask())
    errors: list[object] = []
    before, threading.excepthook = threading.excepthook, errors.append
    try:
        hanging.go_on.set()
        for thread in threading.enumerate():
            if thread.name == "keyring":
                assert thread.daemon
                thread.join(5)
    finally:
        threading.excepthook = before
    assert errors == []


@pytest.mark.parametrize("backend", [Forgetful(), Lying("something else")])
async def test_a_keyring_that_does_not_hold_what_it_took_has_not_kept_it(backend: KeyringBackend) -> None:
    with pytest.raises(KeyringUnavailableError):
        await ring(backend).keep(WORK, KEY)


@pytest.mark.parametrize(("answer", "found"), [(5, None), ("  ", None), (f" {SENTINEL}\n", KEY)])
async def test_what_is_no_key_is_none(answer: object, found: SecretStr | None) -> None:
    assert await ring(Lying(answer)).read(WORK) == found


async def test_a_key_that_cannot_be_sent_is_named_by_its_place_alone() -> None:
    with pytest.raises(UnusableKeyError, match="system keyring") as caught:
        await ring(Lying(f"{SENTINEL} two")).read(WORK)
    assert SENTINEL not in str(caught.value)


# The file


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "config" / "keys.toml")


def test_a_key_in_the_file_belongs_to_its_origin(file: KeyFile) -> None:
    file.keep(WORK, KEY)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert file.path.read_text().startswith("# Keys in plain text")
    assert file.read(Owner("work", "https://work.example:8443")) is None
    assert file.read(Owner("play", WORK.origin)) is None
    assert file.origin("work") == WORK.origin
    file.forget(Owner("work", "https://elsewhere.example"))
    assert file.read(WORK) == KEY
    file.forget(WORK)
    assert file.read(WORK) is None
    assert SENTINEL not in file.path.read_text()


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_open_to_others_is_neither_used_nor_written(file: KeyFile, mode: int) -> None:
    file.keep(WORK, KEY)
    file.path.chmod(mode)
    before = file.path.read_text()
    calls: list[Callable[[], object]] = [
        lambda: file.read(WORK),
        lambda: file.keep(WORK, SecretStr("new")),
        lambda: file.forget(WORK),
    ]
    for call in calls:
        with pytest.raises(ConfigError, match="chmod 600") as caught:
            call()
        assert SENTINEL not in str(caught.value)
    assert file.path.read_text() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_not_used_even_by_root(file: KeyFile) -> None:
    file.keep(WORK, KEY)
    os.chown(file.path, 12345, 12345)
    with pytest.raises(ConfigError, match="another user"):
        file.read(WORK)


@pytest.mark.parametrize("text", [f'[keys.work]\nkey = "{SENTINEL}\n', f"{SENTINEL}\n", f'{SENTINEL} = "a\\q"\n'])
def test_a_file_that_is_not_toml_is_named_with_its_line_and_not_quoted(file: KeyFile, text: str) -> None:
    file.path.parent.mkdir()
    file.path.touch(mode=0o600)
    file.path.write_text(text)
    with pytest.raises(ConfigError, match=r"keys\.toml, line \d") as caught:
        file.read(WORK)
    assert SENTINEL not in str(caught.value)
    with pytest.raises(ConfigError, match="nothing was written"):
        file.keep(WORK, KEY)
    assert file.path.read_text() == text


# Their order


def chain(file: KeyFile, backend: KeyringBackend, environ: Mapping[str, str] | None = None) -> KeyChain:
    return KeyChain(environ or {}, ring(backend), file)


async def test_the_environment_goes_before_the_keyring_and_that_before_the_file(file: KeyFile) -> None:
    keys = chain(file, Good(), {"WORK_KEY": "of-environment"})
    file.keep(WORK, SecretStr("of-file"))
    assert (await keys.find(WORK, None)).words == "key file"
    await keys.keep(WORK, SecretStr("of-ring"), in_file=False)
    assert (await keys.find(WORK, None)).key == SecretStr("of-ring")
    found = await keys.find(WORK, "WORK_KEY")
    assert (found.key, found.words) == (SecretStr("of-environment"), "environment variable WORK_KEY")
    assert (await keys.find(WORK, "UNSET")).words == "system keyring"
    nobody = await keys.find(None, "UNSET")
    assert (nobody.key, nobody.place, nobody.words) == (None, Place.NOWHERE, "none: UNSET is not set")
    for each in (keys, found, file, keys.keyring):
        assert not any(f"of-{place}" in repr(each) for place in ("environment", "ring", "file"))
    await keys.forget(WORK)
    assert (await keys.find(WORK, None)).key is None


async def test_why_there_is_no_key_is_told(file: KeyFile) -> None:
    keys = chain(file, Raising(KeyringLocked()))
    assert (await keys.find(WORK, None)).words == "none: no system keyring answers"
    file.keep(Owner("work", "https://before.example"), KEY)
    assert "for another address" in (await keys.find(WORK, None)).words
    file.path.chmod(0o644)
    assert "chmod 600" in (await keys.find(WORK, None)).words


@pytest.mark.parametrize("in_file", [False, True])
async def test_a_key_moves_to_another_owner_within_its_place(file: KeyFile, in_file: bool) -> None:
    keys = chain(file, Good())
    await keys.keep(WORK, KEY, in_file=in_file)
    for owner in (Owner("office", WORK.origin), Owner("office", "https://new.example")):
        await keys.move(WORK if owner.origin == WORK.origin else Owner("office", WORK.origin), owner)
        found = await keys.find(owner, None)
        assert found.key == KEY
        assert found.place is (Place.FILE if in_file else Place.KEYRING)
    assert (await keys.find(WORK, None)).key is None
