import asyncio
import os
import stat
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked
from pydantic import SecretStr

from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError
from quarterdeck.config.keys import KeyringUnavailableError, Keys, Owner, SystemKeyring, UnusableKeyError
from tests.keyrings import Good, Hanging, Lying, Raising

SENTINEL = "sentinel-key-77ad"
KEY, OWNER = SecretStr(SENTINEL), Owner("work", "https://work.example")
WORK = Connection("work", "https://work.example/base", kept=True)


def ring(backend: KeyringBackend, patience: float = 3.0) -> SystemKeyring:
    return SystemKeyring(lambda: backend, patience)


def missing() -> KeyringBackend:
    raise ImportError


async def test_a_keyring_that_raises_or_cannot_be_loaded_is_not_available() -> None:
    backends = (Raising(KeyringLocked(SENTINEL)), Raising(KeyError(SENTINEL)), Raising(OSError()))
    rings = (*map(ring, backends), SystemKeyring(missing))
    for call in (call for each in rings for call in (each.read(OWNER), each.keep(OWNER, KEY), each.forget(OWNER))):
        with pytest.raises(KeyringUnavailableError) as caught:
            await call
        assert SENTINEL not in repr(caught.value)


def test_a_keyring_that_hangs_is_left_and_its_late_answer_reaches_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = Hanging()

    async def ask() -> None:
        waiting = ring(hanging, 0.2)
        for _ in range(2):
            with pytest.raises(KeyringUnavailableError):
                await waiting.read(OWNER)

    asyncio.run(ask())
    assert hanging.asked == 1, "it is not asked again"
    errors: list[object] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    hanging.go_on.set()
    for thread in (each for each in threading.enumerate() if each.name == "keyring"):
        assert thread.daemon
        thread.join(5)
    assert errors == []


@pytest.mark.parametrize(("answer", "found"), [(None, None), (5, None), ("  ", None), (f" {SENTINEL}\n", KEY)])
async def test_what_is_no_key_is_none_and_what_is_not_held_is_not_kept(answer: object, found: SecretStr | None) -> None:
    assert await ring(Lying(answer)).read(OWNER) == found
    with pytest.raises(KeyringUnavailableError):
        await ring(Lying(answer)).keep(OWNER, KEY)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "keys.toml"


def keys(file: Path, backend: KeyringBackend | None = None, environ: Mapping[str, str] | None = None) -> Keys:
    """Keys of somebody whose keyring answers nothing, if none is given."""
    return Keys(file, environ or {}, ring(backend or Raising(KeyringLocked())))


async def in_file(file: Path, connection: Connection = WORK) -> SecretStr | None:
    return (await keys(file).find(connection)).key


async def test_a_key_in_the_file_belongs_to_its_origin(file: Path) -> None:
    assert await keys(file).source(WORK) == "none (the system keyring is locked)"
    await keys(file).keep(WORK, KEY, in_file=True)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (file, file.parent)] == [0o600, 0o700]
    assert file.read_text().startswith("# Keys in plain text")
    assert await in_file(file) == KEY
    elsewhere = replace(WORK, url="https://elsewhere.example")
    assert "for another address" in await keys(file).source(elsewhere)
    for other in (replace(WORK, url="https://work.example:8443"), replace(WORK, name="play"), elsewhere):
        assert await in_file(file, other) is None
    assert await in_file(file, replace(WORK, kept=False)) is None
    await keys(file).forget(elsewhere)
    assert await in_file(file) is None, "what no connection would show any more is deleted, too"
    assert SENTINEL not in file.read_text()


async def refused(file: Path, why: str) -> None:
    """The file is not used, not written over and not quoted, and it is said why."""
    before = file.read_text()
    source = await keys(file).source(WORK)
    assert (await in_file(file), why in source) == (None, True)
    for call in (keys(file).keep(WORK, SecretStr("new"), in_file=True), keys(file).forget(WORK)):
        with pytest.raises(ConfigError, match=why) as caught:
            await call
        assert SENTINEL not in f"{source}{caught.value}"
    assert file.read_text() == before


HELD = f'[keys.work]\norigin = "https://work.example"\nkey = "{SENTINEL}"\n'


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        *((HELD, mode, "chmod 600") for mode in (0o640, 0o604)),
        *((text, 0o600, "keys.toml, line") for text in (f"{HELD[:-2]}\n", f"{SENTINEL}\n", f'{SENTINEL} = "a\\q"\n')),
    ],
)
async def test_a_file_open_to_others_or_broken_is_left_and_unquoted(file: Path, text: str, mode: int, why: str) -> None:
    file.parent.mkdir()
    file.touch(mode=0o600)
    file.write_text(text)
    assert (await in_file(file) == KEY) is (text == HELD)
    file.chmod(mode)
    await refused(file, why)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
async def test_a_file_of_somebody_else_is_not_used_even_by_root(file: Path) -> None:
    await keys(file).keep(WORK, KEY, in_file=True)
    os.chown(file, 12345, 12345)
    await refused(file, "another user")


async def test_the_environment_goes_before_the_keyring_and_that_before_the_file(file: Path) -> None:
    held = keys(file, Good(), {"WORK_KEY": "of-environment"})
    given, without = replace(WORK, key_env="WORK_KEY"), replace(WORK, key_env="UNSET")
    await held.keep(WORK, SecretStr("of-file"), in_file=True)
    assert await held.source(WORK) == "key file"
    await held.keep(WORK, SecretStr("of-ring"), in_file=False)
    assert "of-file" not in file.read_text(), "the keyring has its successor"
    assert (await held.find(WORK)).key == SecretStr("of-ring")
    found = await held.find(given)
    assert (found.key, found.source) == (SecretStr("of-environment"), "environment variable WORK_KEY")
    assert await held.source(without) == "system keyring"
    assert await held.source(replace(without, kept=False)) == "none (UNSET is not set)"
    held.type(given, SecretStr("of-hand"))
    assert await held.source(given) == "typed for this run"
    assert not any(f"of-{place}" in f"{held}{found}" for place in ("environment", "ring", "file", "hand"))
    await held.forget(WORK)
    assert (await held.find(WORK)).key is None


async def test_a_key_is_not_said_to_be_kept_in_the_file_while_the_keyring_gives_another(file: Path) -> None:
    older = replace(WORK, url="https://old.example")
    await keys(file).keep(older, SecretStr("older"), in_file=True)
    held = keys(file, Lying("another"))
    held.type(WORK, KEY)
    with pytest.raises(ConfigError, match="the system keyring has another key"):
        await held.keep(WORK, KEY, in_file=True)
    assert (await held.find(WORK)).key == KEY, "it lasts for this run"
    assert SENTINEL not in file.read_text()
    assert (await keys(file).find(older)).key == SecretStr("older")


async def test_the_keyring_keeps_its_key_until_the_file_has_its_successor(file: Path) -> None:
    held = keys(file, Good())
    await held.keep(WORK, KEY, in_file=False)
    file.mkdir(parents=True)
    with pytest.raises(ConfigError):
        await held.keep(WORK, SecretStr("new"), in_file=True)
    assert (await held.find(WORK)).key == KEY


async def test_a_key_that_cannot_be_sent_is_named_by_its_place_alone(file: Path) -> None:
    held = keys(file, Lying(f"{SENTINEL} two"))
    with pytest.raises(UnusableKeyError, match="system keyring") as caught:
        await held.find(WORK)
    assert SENTINEL not in f"{caught.value}{await held.source(WORK)}"


@pytest.mark.parametrize("to_file", [False, True])
async def test_a_key_moves_to_another_owner_within_its_place(file: Path, to_file: bool) -> None:
    held = keys(file, Good())
    await held.keep(WORK, KEY, in_file=to_file)
    office = replace(WORK, name="office")
    moved = replace(office, url="https://new.example")
    for old, new in ((WORK, office), (office, moved)):
        await held.move(old, new, along=True)
        found = await held.find(new)
        assert (found.key, found.source) == (KEY, "key file" if to_file else "system keyring")
        assert (await held.find(old)).key is None
    await held.move(moved, WORK, along=False)
    assert (await held.find(WORK)).key is (await held.find(moved)).key is None
    assert (await held.find(replace(WORK, url=moved.url))).key == KEY
