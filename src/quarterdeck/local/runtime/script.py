"""What simulated agents say and do: one run of an agent, as the answers of its model one after the other."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from quarterdeck.local.events import text_part
from quarterdeck.local.store import Record

RISKS = ("LOW", "MEDIUM", "HIGH")


@dataclass(frozen=True)
class Call:
    """One tool call, how long the tool takes, and what it answers; without an observation it fails with an error."""

    tool: str
    kind: str
    action: Record
    summary: str = ""
    risk: str = "LOW"
    seconds: float = 0.6
    observation: Record | None = None
    error: str = ""


@dataclass(frozen=True)
class Answer:
    """One answer of a model: calls, or words that end the run; or what goes wrong instead."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    error: tuple[str, str] | None = None
    """Code and words of what ends the run."""
    summarised: str = ""
    """What stands for the older events from now on; asking for it is no answer to the person."""
    stuck: bool = False


@dataclass
class File:
    """A file that the agent works at."""

    path: str
    text: str
    versions: Iterator[tuple[str, str]] = field(default_factory=lambda: iter(()))
    """What is replaced, by what."""


_MODULE = """\
\"\"\"Sending files to the storage, in pieces.\"\"\"

import time

ATTEMPTS = 1


def upload(storage, name, data):
    for piece in pieces(data):
        storage.put(name, piece)


def pieces(data, size=65536):
    for start in range(0, len(data), size):
        yield data[start : start + size]
"""
_EDITS = (
    ("ATTEMPTS = 1\n", "ATTEMPTS = 5\nFIRST_PAUSE = 0.2\n"),
    (
        "    for piece in pieces(data):\n        storage.put(name, piece)\n",
        "    for piece in pieces(data):\n        put_again(storage, name, piece)\n",
    ),
    (
        "def pieces(data, size=65536):\n",
        "def put_again(storage, name, piece):\n"
        "    for attempt in range(ATTEMPTS):\n"
        "        try:\n"
        "            return storage.put(name, piece)\n"
        "        except ConnectionError:\n"
        "            time.sleep(FIRST_PAUSE * 2**attempt)\n"
        '    raise ConnectionError(f"{name} could not be stored")\n\n\n'
        "def pieces(data, size=65536):\n",
    ),
)
_FAILURES = """\
============================= test session starts ==============================
collected 24 items

tests/test_upload.py ....F.                                              [ 25%]
tests/test_pieces.py ..................                                  [100%]

=================================== FAILURES ===================================
___________________________ test_a_broken_line_is_met __________________________

    def test_a_broken_line_is_met(storage):
        storage.breaks(times=2)
>       upload(storage, "a.bin", b"x" * 10)
E       ConnectionError: a.bin could not be stored

tests/test_upload.py:31: ConnectionError
========================= 1 failed, 23 passed in 0.84s =========================
"""
_PLAN = (
    "Find where files are sent",
    "Send again what did not arrive",
    "Test it with a broken line",
    "Tell how it went",
)
_PROMPTS = (
    "Please do that also for the small files.",
    "Now the same for downloads, please.",
    "Good. Can you explain what happens when the disk is full?",
    "There is a warning in the log, have a look at it.",
    "Make it ready to be merged.",
)
_ENDINGS = (
    "Files are sent again up to **five times** now, each time after a longer pause.\n\n"
    "- `upload.py`: `put_again` is new\n- `tests/test_upload.py`: a line that breaks twice\n\n"
    "```python\nput_again(storage, name, piece)\n```\n\nAll 24 tests pass. Shall I open a pull request?",
    "Done. What changed:\n\n| file | lines |\n|---|---|\n| `upload.py` | +11 -2 |\n| `tests/test_upload.py` | +9 |\n\n"
    "> The pause doubles with each attempt, so five attempts take about three seconds.\n\n"
    "Nothing else sends files, as far as I can see.",
    "I looked, and it is as it should be: the warning comes from `storage.put`, which says that a piece came late. "
    "Nothing was changed.",
)


def first_prompt(title: str) -> str:
    """What a person began a conversation of that title with."""
    return f"{title}.\n\nIt should go on working for those who use it now, and have a test."


def next_prompt(dice: Random) -> str:
    """What a person goes on with."""
    return dice.choice(_PROMPTS)


def run_of(dice: Random) -> Iterator[Answer]:
    """One run, which ends with words or an error; it goes on as it is asked, for a person may stop it."""
    file = File("/workspace/project/upload.py", _MODULE, iter(_EDITS))
    done = 0
    yield _look(dice)
    yield _planned(done)
    yield Answer("Let me read the file first.", calls=(_view(file),))
    for step in _middle(dice, file):
        if dice.random() < 0.3:
            yield dice.choice(_ASIDES)(dice)
        yield step
        done = min(done + 1, len(_PLAN) - 1)
    if dice.random() < 0.06:
        yield Answer(error=("LLMRateLimitError", "litellm.RateLimitError: 429 too many requests, try again later"))
        return
    if dice.random() < 0.03:
        yield repeated()
        return
    yield _planned(len(_PLAN))
    if dice.random() < 0.5:
        ending = dice.choice(_ENDINGS)
        finish = Call("finish", "Finish", {"message": ending}, "say how it went", "UNKNOWN", 0.0, _said(ending))
        yield Answer(calls=(finish,))
    else:
        yield Answer(dice.choice(_ENDINGS), reasoning="Everything is done, so I say how it went. ")


def question(dice: Random) -> Answer:
    """Something that is asked about wherever risky actions are."""
    push = _terminal("git push --force origin retries", "To origin\n + 1f2e3d4...9a8b7c6 retries -> retries\n", 0)
    clean = _terminal("rm -rf build dist && git clean -fdx", "Removing build/\nRemoving dist/\n", 0)
    risky = tuple(
        Call(call.tool, call.kind, call.action, summary, "HIGH", 1.5, call.observation)
        for call, summary in ((push, "push over what is on the server"), (clean, "delete what was built"))
    )
    words = "The branch has to be pushed over the old one, for its commits were put together."
    return Answer(words, calls=risky if dice.random() < 0.3 else risky[:1])


def repeated() -> Answer:
    """What an agent does again and again."""
    return Answer(calls=(_terminal("make check", "make: 'check' is up to date.", 0),), stuck=True)


def arguments(call: Call) -> str:
    """The arguments of a call as a model writes them."""
    return json.dumps({**call.action, "security_risk": call.risk, "summary": call.summary})


def _middle(dice: Random, file: File) -> Iterator[Answer]:
    yield Answer("I raise the number of attempts.", calls=(_edit(file),))
    yield Answer(reasoning="The loop has to go through one place. ", calls=(_edit(file),))
    yield Answer("Now what sends again.", calls=(_edit(file),))
    tests = "/workspace/project/tests/test_broken_line.py"
    text = "def test_a_broken_line_is_met(storage):\n    storage.breaks(times=2)\n    upload(storage, 'a.bin', b'x')\n"
    yield Answer(calls=(_create(tests, text),))
    yield Answer("The tests:", calls=(_terminal("pytest -q", _FAILURES, 1, 2.5),))
    if dice.random() < 0.6:
        yield question(dice)
    passed = "........................                                     [100%]\n24 passed in 0.79s\n"
    yield Answer("The pause was too short for the stand-in.", calls=(_terminal("pytest -q", passed, 0, 2.0),))


def _look(dice: Random) -> Answer:
    listing = "\n".join(f"{name:<24}{dice.randrange(200, 9000):>8}" for name in ("README.md", "upload.py", "tests/"))
    calls = (
        _terminal("git status --short && git log --oneline -3", " M notes.txt\n1f2e3d4 Send in pieces\n", 0),
        _terminal("ls -l", listing, 0, 0.3),
        _terminal("cat setup.cfg", "cat: setup.cfg: No such file or directory\n", 1, 0.2),
    )
    return Answer("I will look at what is there.", "A person wants a retry. First the repository. ", calls)


def _long_output(dice: Random) -> Answer:
    lines = (f"[{place:>4}/1800] {dice.choice(('cc', 'ar', 'ld'))} build/part_{place}.o" for place in range(1, 1801))
    return Answer("I build it once.", calls=(_terminal("make -j4", "\n".join(lines), 0, 6.0),))


def _slow(_dice: Random) -> Answer:
    call = _terminal("docker compose pull", "[+] Pulling 7/12\n ⠿ storage Pulling 31.4s\n", -1, 10.0)
    return Answer("The storage has to be there for that.", calls=(call,))


def _unknown_tool(_dice: Random) -> Answer:
    error = "Tool 'search_web' not found. Available: ['terminal', 'file_editor', 'task_tracker', 'finish', 'think']"
    return Answer(
        calls=(Call("search_web", "", {"query": "retry with pauses"}, "search", "UNKNOWN", 0.0, None, error),)
    )


def _other_tool(_dice: Random) -> Answer:
    action = {"data": {"number": 214, "repository": "harbour/web"}}
    found = _said("#214 Uploads break off on a bad line\nopen, 3 comments")
    return Answer(calls=(Call("fetch_issue", "MCPTool", action, "read the issue", "UNKNOWN", 0.9, found),))


def _think(_dice: Random) -> Answer:
    thought = "Pieces are small, so a piece is what is sent again, and not the file."
    return Answer(
        calls=(
            Call("think", "Think", {"thought": thought}, "", "UNKNOWN", 0.0, _said("Your thought has been logged.")),
        )
    )


def _summarise(_dice: Random) -> Answer:
    return Answer(summarised="The agent read upload.py and raised the number of attempts; tests are to follow.")


_ASIDES = (_long_output, _slow, _unknown_tool, _other_tool, _think, _summarise)


def _planned(done: int) -> Answer:
    status = ["done"] * done + ["in_progress"] + ["todo"] * len(_PLAN)
    tasks = [{"title": title, "notes": "", "status": status[place]} for place, title in enumerate(_PLAN)]
    words = "\n".join(f"{task['status']}: {task['title']}" for task in tasks)
    action = {"command": "plan", "task_list": tasks}
    told = {**_said(words), "command": "plan", "task_list": tasks}
    return Answer(calls=(Call("task_tracker", "TaskTracker", action, "keep the plan", "LOW", 0.1, told),))


def _said(text: str, *, is_error: bool = False) -> Record:
    return {"content": [text_part(text)], "is_error": is_error}


def _terminal(command: str, output: str, exit_code: int, seconds: float = 0.8) -> Call:
    suffix = f"\n[The command completed with exit code {exit_code}.]"
    if exit_code < 0:
        suffix = f"\n[The command timed out after {seconds:.1f} seconds. You may wait longer to see additional output.]"
    metadata: dict[str, Any] = {
        "exit_code": exit_code,
        "pid": -1,
        "username": "agent",
        "hostname": "simulated",
        "working_dir": "/workspace/project",
        "prefix": "",
        "suffix": suffix,
    }
    about = {"command": command, "exit_code": exit_code, "timeout": False, "metadata": metadata}
    action = {"command": command, "is_input": False, "reset": False}
    return Call("terminal", "Terminal", action, f"run {command.split()[0]}", "LOW", seconds, {**_said(output), **about})


def _edit(file: File) -> Call:
    old, new = next(file.versions)
    before, file.text = file.text, file.text.replace(old, new)
    action = {"command": "str_replace", "path": file.path, "old_str": old, "new_str": new}
    told = {
        **_said(f"The file {file.path} has been edited."),
        "command": "str_replace",
        "path": file.path,
        "prev_exist": True,
        "old_content": before,
        "new_content": file.text,
    }
    return Call("file_editor", "FileEditor", action, "change the file", "MEDIUM", 0.2, told)


def _create(path: str, text: str) -> Call:
    action = {"command": "create", "path": path, "file_text": text}
    told = {
        **_said(f"File created successfully at: {path}"),
        "command": "create",
        "path": path,
        "prev_exist": False,
        "new_content": text,
    }
    return Call("file_editor", "FileEditor", action, "write a test", "LOW", 0.2, told)


def _view(file: File) -> Call:
    numbered = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(file.text.splitlines(), 1))
    told = _said(f"Here's the result of running `cat -n` on {file.path}:\n{numbered}\n")
    about = {"command": "view", "path": file.path, "prev_exist": True}
    return Call(
        "file_editor", "FileEditor", {"command": "view", "path": file.path}, "read it", "LOW", 0.2, told | about
    )
