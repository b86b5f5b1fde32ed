"""`${NAME}` in place of a secret in text that people carry elsewhere, as other tools write it in such files.

VS Code's page "MCP configuration reference" has `${input:api-token}` and the like, Gemini CLI's page "MCP servers" has
`$TOKEN`. No service of ours puts a value in their place: read back, one is a secret that has to be typed.
"""

import re
from typing import Any

from quarterdeck.settings.masks import MASK

_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}|^\$[A-Za-z_]\w*$")
_NOT_IN_A_NAME = re.compile(r"[^A-Z0-9]+")


def as_placeholders(value: Any, *names: str) -> Any:
    """JSON data with a placeholder in place of each mask, called after the place where it stands."""
    if isinstance(value, dict):
        return {name: as_placeholders(held, *_place(names, name)) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [as_placeholders(held, *names, str(number)) for number, held in enumerate(value, 1)]
    return value.replace(MASK, _called(names)) if isinstance(value, str) else value


def as_masks(value: Any) -> Any:
    """JSON data with a mask in place of each placeholder."""
    if isinstance(value, dict):
        return {name: as_masks(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [as_masks(held) for held in value]
    return _PLACEHOLDER.sub(MASK, value) if isinstance(value, str) else value


def _place(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """A variable is called as it is; the objects that only hold others do not show in a name."""
    return (name,) if names[-1:] == ("env",) else (*names, name)


def _called(names: tuple[str, ...]) -> str:
    words = _NOT_IN_A_NAME.sub("_", "_".join(names).upper()).strip("_")
    return f"${{{words or 'SECRET'}}}"
