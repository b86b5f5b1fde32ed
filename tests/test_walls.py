"""The walls between rooms: what each may bring along when it is imported in a fresh process."""

import ast
import json
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "quarterdeck"
HEAVY = frozenset({"httpx", "pydantic", "fastapi", "aiosqlite", "psutil", "keyring", "hypercorn"})
FACE = frozenset({"textual", "rich"})

NEVER = FACE | {"fastapi", "aiosqlite", "hypercorn"}
"""What no room but the face and the local service may load."""
ROOMS = {
    "client": (frozenset[str](), NEVER),
    "fleet": (frozenset({"client"}), NEVER),
    "settings": (frozenset({"client"}), NEVER),
    "local": (frozenset({"client.models.enums"}), FACE),
    "config": (frozenset[str](), NEVER),
    "tui": (frozenset({"fleet", "settings", "client", "config"}), frozenset({"fastapi", "aiosqlite", "hypercorn"})),
}
"""Room -> the other rooms it may import from, and what must not be loaded when all of it is."""


def modules_of(room: str) -> list[str]:
    files = sorted((SOURCE / room).rglob("*.py"))
    dotted = (file.relative_to(SOURCE.parent).with_suffix("").as_posix().replace("/", ".") for file in files)
    return [name.removesuffix(".__init__") for name in dotted]


def loaded_by(program: str, *arguments: str) -> set[str]:
    """Names of all modules a fresh interpreter holds after a program, even one that ends by sys.exit."""
    tell = "import atexit, json, sys\natexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))\n"
    command = [sys.executable, "-c", tell + program, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    *errors, loaded = ended.stderr.splitlines()
    assert ended.returncode == 0, "\n".join(errors)
    return set(json.loads(loaded))


def loaded_by_importing(*names: str) -> set[str]:
    return loaded_by("".join(f"import {name}\n" for name in names))


@cache
def imported_by(file: Path) -> frozenset[str]:
    """Whole names of what a file imports, wherever in the file it does; ours without the name of the package."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name.removeprefix("quarterdeck.") for name in names)


def naming(*libraries: str) -> set[str]:
    """The rooms that import one of these libraries."""
    files = (
        file for file in SOURCE.rglob("*.py") if any(within(each, frozenset(libraries)) for each in imported_by(file))
    )
    return {file.relative_to(SOURCE).parts[0] for file in files}


def within(name: str, rooms: frozenset[str]) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_names_only_the_rooms_it_may(room: str) -> None:
    others = frozenset(each.name for each in SOURCE.iterdir() if each.is_dir() and each.name != room)
    named = {(file.name, name) for file in (SOURCE / room).rglob("*.py") for name in imported_by(file)}
    assert {each for each in named if within(each[1], others) and not within(each[1], ROOMS[room][0])} == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_brings_only_the_libraries_it_may(room: str) -> None:
    assert loaded_by_importing(*modules_of(room)) & ROOMS[room][1] == set()


def test_only_some_rooms_name_httpx_the_deck_and_the_local_service_and_none_goes_around_the_libraries() -> None:
    assert naming("httpx") == {"client"}
    assert naming("tui") == {"cli", "tui"}
    assert naming("local") == {"cli", "local"}
    assert naming("gc", "httptools", "marshal") == set()


def test_no_imports_go_in_a_circle_not_even_those_of_types() -> None:
    files = {
        ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): file
        for file in SOURCE.rglob("*.py")
    }
    arrows = {
        name: {each if each in files else each.rpartition(".")[0] for each in imported_by(file)} & {*files}
        for name, file in files.items()
    }
    TopologicalSorter(arrows).prepare()  # its error names the circle


def test_click_is_not_installed() -> None:
    assert find_spec("click") is None, "click makes importing httpx three times as slow"


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_next_to_nothing(option: str) -> None:
    loaded = loaded_by("import sys\nfrom quarterdeck.cli.main import main\nsys.exit(main())", option)
    assert loaded & (HEAVY | FACE | {"asyncio"}) == set()


def test_the_frame_is_made_with_textual_alone() -> None:
    assert loaded_by_importing("quarterdeck.cli.deck", "quarterdeck.tui.app") & HEAVY == set()


def test_no_handler_calls_that_of_its_base_which_textual_calls_too() -> None:
    """Textual calls the handler of each class from the last one to the first; `on_event` and `on_news` are none."""
    twice = []
    for file in (SOURCE / "tui").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name) if name.startswith(
                    ("on_", "_on_")
                ) and name not in {"on_event", "on_news"}:
                    twice.append(f"{file.name}: {name}")
    assert twice == []
