"""A text in the person's own editor or pager."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import App

from quarterdeck.tui.external import CannotRunError, can_open_browser, edit, view


class Lending(App[None]):
    """An app that lends the terminal that a test has not."""

    @contextmanager
    def suspend(self) -> Iterator[None]:
        yield


def program(folder: Path, *lines: str) -> str:
    path = folder / "program"
    path.write_text("\n".join(("#!/bin/sh", f"cd '{folder}'", *lines)))
    path.chmod(0o700)
    return str(path)


def test_it_is_given_cleaned_text_in_a_private_file_that_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = program(tmp_path, 'stat -c %a "$1" > mode', 'cp "$1" seen', 'echo "$1" > name', 'printf "new\\n" > "$1"')
    monkeypatch.setenv("EDITOR", keep)
    monkeypatch.setenv("PAGER", keep)
    assert edit(Lending(), "old \x1b[2J\u202e\n\tline") == "new"
    assert (tmp_path / "mode").read_text() == "600\n"
    assert (tmp_path / "seen").read_text() == "old \\u001b[2J\\u202e\n\tline"
    assert not Path((tmp_path / "name").read_text().strip()).exists()
    view(Lending(), "all \x07")
    assert (tmp_path / "seen").read_text() == "all \\u0007"
    assert not Path((tmp_path / "name").read_text().strip()).exists()


def test_one_that_fails_or_is_not_there_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for named, words in {
        program(tmp_path, "exit 3"): "ended with 3",
        "/nowhere/vi": "cannot be run",
        "'": "read",
    }.items():
        monkeypatch.setenv("VISUAL", named)
        with pytest.raises(CannotRunError, match=words):
            edit(Lending(), "text")


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
