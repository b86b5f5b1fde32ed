"""What is written to a terminal, also to one that takes nothing for a while or is gone."""

import asyncio
import os
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from quarterdeck.tui.terminal.output import Output

MUCH = "".join(f"{number} Grüße " for number in range(30_000))
"""More than a terminal keeps for somebody who does not read."""


@pytest.fixture
def terminal() -> Iterator[tuple[int, TextIO]]:
    """Where somebody reads what is written to a terminal, and the file of the program that writes."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    with os.fdopen(theirs, "w", encoding="utf-8") as file, os.fdopen(ours, "rb", buffering=0) as reader:
        yield reader.fileno(), file


def _read(fd: int, size: int) -> bytes:
    read = b""
    while len(read) < size:
        read += os.read(fd, 65536)
    return read


async def test_words_are_there_when_they_are_written(terminal: tuple[int, TextIO]) -> None:
    fd, file = terminal
    output = Output(file, asyncio.get_running_loop())
    output.write("Grüße")
    assert os.read(fd, 100).decode() == "Grüße"
    output.close()


async def test_what_a_terminal_does_not_take_yet_follows_in_order(terminal: tuple[int, TextIO]) -> None:
    fd, file = terminal
    output = Output(file, asyncio.get_running_loop())
    output.write(MUCH)
    output.write("the end")
    expected = f"{MUCH}the end".encode()
    assert await asyncio.to_thread(_read, fd, len(expected)) == expected
    output.close()


async def test_closing_writes_what_waits(terminal: tuple[int, TextIO]) -> None:
    fd, file = terminal
    output = Output(file, asyncio.get_running_loop())
    output.write(MUCH)
    reading = asyncio.get_running_loop().run_in_executor(None, _read, fd, len(MUCH.encode()))
    output.close()
    assert await reading == MUCH.encode()


async def test_a_terminal_that_takes_no_more_is_left_all_the_same(terminal: tuple[int, TextIO]) -> None:
    _, file = terminal
    output = Output(file, asyncio.get_running_loop())
    output.write(MUCH)
    output.close()


async def test_what_is_written_to_a_terminal_that_is_gone_is_dropped() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as file:
        output = Output(file, asyncio.get_running_loop())
        output.write(MUCH)
        os.close(ours)
        output.write("and more")
        output.close()


async def test_a_file_that_is_no_terminal_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file, pytest.raises(OSError, match="ioctl"):
        Output(file, asyncio.get_running_loop())
