"""Somebody without a plan at the settings screen: presses keys by chance, and sees that nothing goes unannounced."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from textual.widget import Widget
from textual.widgets import Static, TextArea

from quarterdeck.client.nested import CANONICAL
from quarterdeck.settings.masks import address
from quarterdeck.settings.review import WITH_SECRETS
from quarterdeck.tui.dialogs.saving import ReviewDialog
from quarterdeck.tui.screens.settings import SettingsScreen
from quarterdeck.tui.widgets.form.inputs import ChoiceLine, LineInput
from tests.tui_settings.form import FormSeat

STORED = "sentinel"
"""Stands in every secret that is stored at first, and must never be seen."""
TYPED = "typed-secret"
"""Stands in every secret that is typed, and is seen only where somebody asks for it."""


def _keys(names: str) -> list[str]:
    return names.split()


_MOVES = _keys("down up j k pagedown pageup g G tab shift+tab ctrl+d ctrl+u")
_EDITS = _keys("enter enter u x ctrl+z ctrl+z ctrl+y a d d e v c space space o F i y Y U E I K f2 ctrl+o t")
_LEAVING = _keys("escape q slash ctrl+r 1 2 3 L question_mark ctrl+s ctrl+s ctrl+s")
_TYPING = _keys(
    "a Z 9 0 minus full_stop equals_sign colon slash backspace backspace delete left right up down home end"
)
_TYPING += _keys("space tab shift+tab enter enter escape ctrl+s ctrl+o ctrl+t ctrl+u ctrl+k ctrl+a ctrl+x")
_ANSWERING = _keys("enter enter escape escape escape escape y y n s w p t l D k d m r a o ctrl+s")
_ANSWERING += _keys("space tab shift+tab up down left right")
_HABITS = (
    ("escape", "escape"),
    ("escape", "escape", "ctrl+s", "y"),
    ("ctrl+s", "enter"),
    ("ctrl+s", "y"),
    ("enter", "ctrl+u", "7", "7", "enter"),
    ("enter", "ctrl+u", "a", "slash", "z", "enter"),
    ("enter", "tab", "a", "ctrl+s"),
    ("enter", "tab", "tab", "backspace", "ctrl+s"),
    ("u", "down", "u", "down", "u"),
    ("ctrl+z", "ctrl+z", "ctrl+z"),
    ("space", "s"),
    ("space", "w"),
    ("escape", "d", "3"),
    ("g", "tab", "tab", "tab"),
    ("g", "tab", "tab", "tab", "tab", "tab"),
)
"""Keys that people press one after the other, so that by chance something comes of them."""
_ACTIVATING = ("enter", "ctrl+s", "y")
_PASTES = (
    "https://new.example.org/mcp",
    "http://127.0.0.1:9/sse?token=x",
    "uvx tool --port 1",
    "NAME=value",
    "anthropic/claude-sonnet-4-5",
    "settings.toml",
    '{"mcpServers": {"fresh": {"command": "npx", "args": ["-y", "fresh"]}}}',
    '{"mcpServers": {"db": {"command": "npx", "args": ["-y", "@acme/db"], "env": {"TOKEN": "${TOKEN}"}}}}',
)


class Monkey:
    """A seat with somebody at it who presses keys by chance; `folder` holds all that this machine keeps."""

    def __init__(self, seat: FormSeat, folder: Path, document: str, seed: int) -> None:
        self.seat = seat
        self.pressed: list[str] = []
        self.saves = 0
        """How many changes of the record were seen."""
        self._folder = folder
        self._database = folder / "data" / "service.db"
        self._document = document
        self._chance = Random(seed)
        self._agreed: list[str] = []
        """What the reviews said that were agreed to, until the save is seen."""
        self._may_keep_secrets = False
        self._to_come: list[str] = []
        """The rest of a habit."""
        self._held = self.record()

    async def press(self, keys: int) -> None:
        """Press so many keys; after each, all that must hold holds."""
        for _ in range(keys):
            await self._press_one()
            self._look()
            if len(self.pressed) % 50 == 0:
                self.look_at_files()

    async def save_once(self) -> None:
        """Edit the field under the cursor and save, by keys, so that there is a save to be seen in any run."""
        self._to_come = ["enter", "ctrl+u", "a", "slash", "z", "enter", "ctrl+s"]
        while self._to_come:
            await self._press_one()
        await self.seat.sees("Review the changes")
        self._to_come = ["y" if "also loses" in self.seat.text else "enter"]
        await self._press_one()
        await self.seat.sees("Saved ·")
        self._look()

    def record(self) -> dict[str, Any]:
        """The whole record as the service keeps it, secrets in clear, each value by its place."""
        with closing(sqlite3.connect(self._database)) as database:
            (found,) = database.execute("SELECT record FROM documents WHERE name = ?", (self._document,))
        return dict(_leaves(json.loads(found[0])))

    def look_at_files(self) -> None:
        """No file but the service's own has a secret; those of disabled servers may, once somebody said so."""
        for path in self._folder.rglob("*"):
            kept = path.relative_to(self._folder)
            if kept.parts[0] == "data" or not path.is_file():
                continue
            said = path.read_bytes()
            if not (self._may_keep_secrets and "disabled" in kept.parts):
                assert STORED.encode() not in said, kept
                assert TYPED.encode() not in said, kept

    # One key

    async def _press_one(self) -> None:
        screen, chance = self.seat.deck.screen, self._chance
        if (
            not self._to_come
            and chance.random() < 0.02
            and isinstance(screen, SettingsScreen)
            and not self.seat.settings.saves.under_way
        ):
            self._meddle()
        pastes = self._types() and not self._to_come and chance.random() < 0.15
        pasted = chance.choice(_PASTES) if pastes else None
        if pasted is not None:
            await self._paste(pasted)
            return
        if not self._to_come and chance.random() < 0.12:
            self._to_come = list(chance.choice(_HABITS))
        key = self._to_come.pop(0) if self._to_come else self._key()
        self.pressed.append(key)
        review = screen if isinstance(screen, ReviewDialog) else None
        said = str(screen.query_one("#changes", Static).content) if review is not None else ""
        await self.seat.press(key)
        if review is not None and key in _ACTIVATING and review not in self.seat.deck.screen_stack:
            self._agreed.append(said)
            self._may_keep_secrets |= WITH_SECRETS in said

    def _key(self) -> str:
        screen, chance = self.seat.deck.screen, self._chance
        if isinstance(screen, SettingsScreen):
            if self._types():
                return chance.choice(_TYPING)
            return chance.choice(chance.choice((_MOVES, _EDITS, _EDITS, _LEAVING)))
        if screen.is_modal:
            return chance.choice(_TYPING if self._types() else _ANSWERING)
        return "3"

    def _types(self) -> bool:
        return isinstance(self.seat.deck.focused, LineInput | TextArea | ChoiceLine)

    async def _paste(self, words: str) -> None:
        focused = self.seat.deck.focused
        if isinstance(focused, LineInput) and focused.is_secret:
            words = f"{TYPED}-{len(self.pressed)}"
        self.pressed.append(f"paste {words}")
        await self.seat.paste(words)

    def _meddle(self) -> None:
        """Somebody else saves something."""
        name, value = self._chance.choice((("language", "de"), ("git_user_email", "b@example.org"), ("language", "en")))
        self.pressed.append(f"somebody saves {name}")
        with closing(sqlite3.connect(self._database)) as database, database:
            database.execute(
                "UPDATE documents SET record = json_set(record, ?, ?) WHERE name = ?",
                (f"$.{name}", value, self._document),
            )
        self._held = self.record()

    # What must hold

    def _look(self) -> None:
        text = self.seat.text
        assert STORED not in text
        assert self._reveals(self.seat.deck.screen) or TYPED not in text
        now = self.record()
        if now != self._held:
            self._explain(self._held, now)
            self._held = now
            self.saves += 1

    def _reveals(self, screen: Widget) -> bool:
        return any(field.is_secret and not field.password for field in screen.query(LineInput))

    def _explain(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Each difference stands in the review that was agreed to, or is what a dialog of its own does at once."""
        if self._acted_at_once():
            return
        assert self._agreed, "stored without a review"
        said = "\n".join(self._agreed)
        self._agreed.clear()
        places = [place for place in {**before, **now} if before.get(place) != now.get(place)]
        unsaid = [place for place in places if not self._is_in(said, place, before, now)]
        assert not unsaid, f"not in the review: {unsaid}\n{said}"

    def _acted_at_once(self) -> bool:
        """Whether the last write was of profiles or secrets, which have dialogs of their own."""
        writes = [request.path for request in self.seat.client.log if request.method != "GET"]
        return bool(writes) and re.search("/(profiles|secrets|tokens)", writes[-1]) is not None

    def _is_in(self, said: str, place: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
        if "mcp_config" in place:
            names = [place.split("\0")[1]]
            names += [value for held in (before, now) if isinstance(value := held.get(f"{_server(place)}\0url"), str)]
            return any(address(name) in said for name in names)
        key = CANONICAL.get(place, place)
        entry = self.seat.form.draft.fields.by_key.get(key)
        return entry is not None and re.search(rf"^(! )?{re.escape(entry.label)}\b", said, re.MULTILINE) is not None


def _server(place: str) -> str:
    return "\0".join(place.split("\0")[:2])


def _leaves(record: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Place -> value; MCP servers by what they go by, from one "\0" to the next."""
    if place.endswith("mcp_config"):
        yield from _servers(record or {}, place)
    elif isinstance(record, dict) and record and (not place or place.count(".") < 2):
        for name, value in record.items():
            yield from _leaves(value, f"{place}.{name}" if place else name)
    else:
        yield place, record


def _servers(config: Mapping[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    seen: dict[str, int] = {}
    for kind, held in config.items():
        for server in held if isinstance(held, list) else [held]:
            name = kind if isinstance(held, dict) else str(server.get("name") or server.get("url"))
            seen[name] = seen.get(name, 0) + 1
            number = f"#{seen[name]}" if seen[name] > 1 else ""
            for member, value in server.items():
                yield f"{place}\0{name}\0{member}{number}", value
