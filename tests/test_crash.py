import subprocess
import sys
from pathlib import Path

import pytest

from quarterdeck.tui.crash_report import REPORTS_KEPT, describe, farewell, write_report

SENTINEL = "sentinel-7f3a"


def failing(value: str) -> None:
    raise ValueError(value)


def caught(value: str) -> ValueError:
    with pytest.raises(ValueError, match=value) as raised:
        failing(value)
    return raised.value


def test_a_report_names_the_place_but_not_the_value() -> None:
    errors = [caught(SENTINEL), TypeError(SENTINEL), FileNotFoundError(2, "ignored", SENTINEL)]
    group = ExceptionGroup(SENTINEL, [*errors, AttributeError("object has no attribute 'no_such_thing'")])
    group.__cause__ = group.exceptions[0]
    text = describe(group)
    assert text.count("builtins.ValueError") == 1
    for words in ("in failing", "builtins.TypeError", "No such file", "no_such_thing"):
        assert words in text
    assert SENTINEL not in text


def test_old_reports_go_and_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    paths = [write_report(caught("x"), tmp_path) for _ in range(REPORTS_KEPT + 3)]
    assert sorted((tmp_path / "crashes").iterdir()) == paths[3:]
    assert "No report could be written" in farewell(caught("x"), paths[-1])


def test_an_unforeseen_error_of_a_command_is_one_line(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from quarterdeck.cli.run import report_crashes_to
report_crashes_to(Path({str(tmp_path)!r}))
key = "{SENTINEL}"
raise ValueError(key)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert SENTINEL not in ended.stderr
    assert str(tmp_path) in ended.stderr
