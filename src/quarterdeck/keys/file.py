"""A file of keys that only its owner may open, for who has no system keyring and said yes to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.config import toml_file

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.keys.owner import Owner

TABLE = "keys"
_NOTICE = """\
# Keys in plain text, written by the deck because somebody said yes to it. Each belongs to its origin and goes nowhere
# else. Nobody but you may open this file; it is not used otherwise.

"""


class KeyFile:
    """Keys in `[keys.NAME]` tables, each with its origin. Every method raises ConfigError for an unusable file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, owner: Owner) -> SecretStr | None:
        """The key of an owner, None where there is none."""
        from quarterdeck.keys.owner import sendable

        entry = self._entry(owner.name)
        return sendable(entry.get("key"), str(self.path)) if entry.get("origin") == owner.origin else None

    def origin(self, name: str) -> str | None:
        """The origin that the key of that name is for, None where there is no such key."""
        origin = self._entry(name).get("origin")
        return origin if isinstance(origin, str) else None

    def keep(self, owner: Owner, key: SecretStr) -> None:
        """Keep a key in the place of the one of that name."""
        from quarterdeck.config.toml_lines import with_members

        members = {"origin": owner.origin, "key": key.get_secret_value()}

        def edit(says: dict[str, Any], text: str) -> str:
            toml_file.entries_of(says, TABLE).setdefault(owner.name, {}).update(members)
            return with_members(text or _NOTICE, (TABLE, owner.name), members)

        toml_file.change(self.path, edit, private=True)

    def forget(self, owner: Owner) -> None:
        """Take a key out, if it is there."""
        from quarterdeck.config.toml_lines import without_table

        if self.read(owner) is None:
            return

        def edit(says: dict[str, Any], text: str) -> str:
            del says[TABLE][owner.name]
            if not says[TABLE]:
                del says[TABLE]
            return without_table(text, (TABLE, owner.name))

        toml_file.change(self.path, edit, private=True)

    def _entry(self, name: str) -> dict[str, Any]:
        entries = toml_file.read(self.path, private=True).get(TABLE)
        entry = entries.get(name) if isinstance(entries, dict) else None
        return entry if isinstance(entry, dict) else {}
