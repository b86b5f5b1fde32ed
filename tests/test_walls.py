"""The walls between rooms: what each may bring along when it is imported in a fresh process."""

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "quarterdeck"
HEAVY = frozenset({"httpx", "pydantic", "fastapi", "aiosqlite", "psutil", "keyring", "hypercorn"})
FACE = frozenset({"textual", "rich"})

ROOMS = {
    "service": (frozenset[str](), FACE | {"fastapi", "aiosqlite", "psutil", "hypercorn"}),
    "fleet": (frozenset({"service.models", "service.errors"}), FACE | (HEAVY - {"pydantic"})),
    "draft": (frozenset({"service.models", "service.errors"}), FACE | (HEAVY - {"pydantic"})),
    "local": (frozenset({"service.models.enums", "service.models.secret_str"}), FACE | {"httpx"}),
    "config": (frozenset({"service.endpoint", "service.errors", "service.address"}), FACE | HEAVY),
    "keys": (
        frozenset({"config", "service.endpoint", "service.errors", "service.address", "service.models.secret_str"}),
        FACE | (HEAVY - {"pydantic", "keyring"}),
    ),
    "notebook": (frozenset({"config"}), FACE | HEAVY),
    "tui": (frozenset({"fleet", "draft", "service"}), frozenset({"fastapi", "aiosqlite", "psutil", "hypercorn"})),
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


def ours_imported_by(file: Path) -> set[str]:
    """What a file names of ours, without the name of the package, wherever in the file it does."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("quarterdeck.") for name in names if name.startswith("quarterdeck.")}


def within(name: str, rooms: frozenset[str]) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_names_only_the_rooms_it_may(room: str) -> None:
    allowed = ROOMS[room][0] | {room, "__version__"}
    strangers = {
        (file.name, name)
        for file in (SOURCE / room).rglob("*.py")
        for name in ours_imported_by(file)
        if not within(name, allowed)
    }
    assert strangers == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_brings_only_the_libraries_it_may(room: str) -> None:
    assert loaded_by_importing(*modules_of(room)) & ROOMS[room][1] == set()


def libraries_named_by(file: Path) -> set[str]:
    """The top-level packages a file imports, wherever in the file it does."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_only_one_module_names_httpx() -> None:
    naming = {
        file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*.py") if "httpx" in libraries_named_by(file)
    }
    assert naming == {"service/http.py"}


def test_only_the_command_line_imports_the_deck_and_the_local_service() -> None:
    outside = [
        file for file in SOURCE.rglob("*.py") if file.relative_to(SOURCE).parts[0] not in ("cli", "tui", "local")
    ]
    for file in outside:
        assert not [name for name in ours_imported_by(file) if within(name, frozenset({"tui", "local"}))], file


def test_click_is_not_installed() -> None:
    assert find_spec("click") is None, "click makes importing httpx three times as slow"


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_next_to_nothing(option: str) -> None:
    loaded = loaded_by("import sys\nfrom quarterdeck.cli import main\nsys.exit(main())", option)
    assert loaded & (HEAVY | FACE | {"asyncio", "dataclasses", "tomllib", "quarterdeck.config"}) == set()


def test_the_client_reads_its_first_list_without_what_only_the_settings_need() -> None:
    loaded = loaded_by_importing("quarterdeck.service.client")
    assert loaded & {"pydantic", "pydantic_core", "quarterdeck.service.models.settings"} == set()


def test_the_version_is_said_without_a_parser() -> None:
    loaded = loaded_by("import sys\nfrom quarterdeck.cli import main\nsys.exit(main())", "--version")
    assert {name for name in loaded if name.startswith("quarterdeck")} == {"quarterdeck", "quarterdeck.cli"}
    assert loaded & {"argparse", "typing", "gettext", "locale"} == set()


LATER = frozenset(
    {
        "quarterdeck.fleet.plan",
        "quarterdeck.fleet.sandbox_memory",
        "quarterdeck.fleet.sandbox_rules",
        "quarterdeck.fleet.sandbox_state",
        "quarterdeck.fleet.sandboxes",
        "quarterdeck.fleet.watch",
        "quarterdeck.service.client",
        "quarterdeck.tui.copying",
        "quarterdeck.tui.live.session",
        "quarterdeck.tui.screens.sandboxes",
        "quarterdeck.tui.screens.settings",
    }
)
"""What no first frame shows: it is imported behind it, or when a key asks for it."""


def test_what_stands_before_the_first_frame_is_light() -> None:
    first = (
        "cli.arguments",
        "cli.run",
        "cli.deck",
        "cli.known",
        "config",
        "service.endpoint",
        "tui.app",
        "tui.connecting",
        "tui.screens.conversations",
    )
    loaded = loaded_by_importing(*(f"quarterdeck.{name}" for name in first))
    assert loaded & (HEAVY | LATER) == set()
    assert not [name for name in loaded if name.startswith("quarterdeck.tui.dialogs.")]


LIST = """
import asyncio, sys
from contextlib import asynccontextmanager
from pathlib import Path
from quarterdeck.service.client import ServiceClient
from quarterdeck.service.endpoint import Endpoint
from quarterdeck.tui.app import Deck
from tests.tui.fake_fleet import FakeFleet

fleet = FakeFleet()
fleet.add("box")
fleet.talk("talk", "box", "Something to do")

@asynccontextmanager
async def connect(endpoint, key=None):
    async with ServiceClient(endpoint, transport=fleet.server) as client:
        yield client

async def main():
    deck = Deck(Endpoint("prod", "http://server.test"), connect, crash_folder=Path(sys.argv[1]))
    async with deck.run_test() as pilot:
        for key, module in ("1", "quarterdeck.tui.dialogs.connections"), ("2", "quarterdeck.tui.screens.sandboxes"):
            await pilot.press(key)
            async with asyncio.timeout(15):
                while not deck.screen.table.rows or module not in sys.modules:
                    await pilot.pause()

asyncio.run(main())
"""


def test_lists_are_watched_without_what_only_the_settings_need(tmp_path: Path) -> None:
    loaded = loaded_by(LIST, str(tmp_path))
    assert "quarterdeck.tui.screens.sandboxes" in loaded
    assert not [name for name in loaded if name.partition(".")[0] in HEAVY - {"httpx"}]  # which stands in for a server
    assert not [name for name in loaded if within(name, frozenset({"quarterdeck.draft", "quarterdeck.tui.settings"}))]


READ = """
import asyncio
from quarterdeck.service.client import ServiceClient
from quarterdeck.service.endpoint import Endpoint

async def answer(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 13\\r\\n\\r\\n" + b'{"items": []}')

async def main():
    server = await asyncio.start_server(answer, "127.0.0.1")
    async with ServiceClient(Endpoint("here", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")) as client:
        assert not (await anext(aiter(client.sandboxes.pages()))).items

asyncio.run(main())
"""


def test_a_list_is_read_from_a_plain_network_without_httpx_and_pydantic() -> None:
    assert not [name for name in loaded_by(READ) if name.partition(".")[0] in HEAVY]


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
