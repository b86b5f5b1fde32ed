"""The walls between rooms: what each may bring along when it is imported in a fresh process."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "quarterdeck"
HEAVY = frozenset({"httpx", "pydantic", "fastapi", "aiosqlite", "psutil", "keyring", "hypercorn"})
FACE, SERVICE = frozenset({"textual", "rich"}), frozenset({"fastapi", "aiosqlite", "hypercorn"})
ROOMS = {
    "client": frozenset[str](),
    "fleet": frozenset({"client"}),
    "settings": frozenset({"client"}),
    "local": frozenset({"client.models.enums"}),
    "config": frozenset[str](),
    "tui": frozenset({"fleet", "settings", "client", "config"}),
}
"""Room -> the other rooms it may import from."""
NEVER = {"client fleet settings config": FACE | SERVICE, "local": FACE, "tui": SERVICE, "cli.deck tui.app": HEAVY}
"""Rooms, and the modules of the frame -> the libraries that come with none of them."""
MODULES = {
    ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): file
    for file in SOURCE.rglob("*.py")
}
"""Every module, by its name within the package."""


def loaded_by(program: str, *arguments: str) -> set[str]:
    """Names of all modules a fresh interpreter holds after a program, even one that ends by sys.exit."""
    tell = "import atexit, json, sys\natexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))\n"
    command = [sys.executable, "-c", tell + program, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    *errors, loaded = ended.stderr.splitlines()
    assert ended.returncode == 0, "\n".join(errors)
    return set(json.loads(loaded))


def imported_by(file: Path) -> frozenset[str]:
    """Whole names of what a file imports, wherever in the file it does; ours without the name of the package."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name.removeprefix("quarterdeck.") for name in names)


IMPORTED = {name: imported_by(file) for name, file in MODULES.items()}


def within(name: str, rooms: Iterable[str]) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


def modules_of(*rooms: str) -> list[str]:
    return [name for name in MODULES if within(name, rooms)]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_names_only_the_rooms_it_may(room: str) -> None:
    others = {name.partition(".")[0] for name in MODULES} - {room}
    named = {(name, each) for name in modules_of(room) for each in IMPORTED[name]}
    assert {each for each in named if within(each[1], others) and not within(each[1], ROOMS[room])} == set()


@pytest.mark.parametrize(("rooms", "never"), NEVER.items())
def test_rooms_bring_only_the_libraries_they_may(rooms: str, never: frozenset[str]) -> None:
    assert loaded_by("".join(f"import quarterdeck.{name}\n" for name in modules_of(*rooms.split()))) & never == set()


def test_only_the_client_names_httpx_and_none_goes_around_the_libraries() -> None:
    named = {(each.partition(".")[0], name.partition(".")[0]) for name in MODULES for each in IMPORTED[name]}
    assert {room for library, room in named if library == "httpx"} == {"client"}
    assert {library for library, _ in named} & {"gc", "httptools", "marshal"} == set()
    assert find_spec("click") is None, "click makes importing httpx three times as slow"


def test_no_imports_go_in_a_circle_not_even_those_of_types() -> None:
    arrows = {
        name: {each if each in MODULES else each.rpartition(".")[0] for each in imported} & {*MODULES}
        for name, imported in IMPORTED.items()
    }
    TopologicalSorter(arrows).prepare()  # its error names the circle


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_next_to_nothing(option: str) -> None:
    loaded = loaded_by("import sys\nfrom quarterdeck.cli.main import main\nsys.exit(main())", option)
    assert loaded & (HEAVY | FACE | {"asyncio"}) == set()


def test_no_handler_calls_that_of_its_base_which_textual_calls_too() -> None:
    """Textual calls the handler of each class from the last one to the first; `on_event` and `on_news` are none."""
    code = "\n".join(file.read_text() for file in (SOURCE / "tui").rglob("*.py"))
    assert {*re.findall(r"super\(\)\.(_?on_\w+)", code)} <= {"on_event", "on_news"}
