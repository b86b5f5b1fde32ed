"""JSON data in a format that knows no null, as TOML is (toml.io, version 1.0.0)."""

import json
from collections.abc import Mapping
from typing import Any


def parted(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """(values without a null in them, JSON text of those with one inside); what is null itself is in neither."""
    as_text = {name: json.dumps(value) for name, value in values.items() if value is not None and _holds_null(value)}
    return {name: value for name, value in values.items() if value is not None and name not in as_text}, as_text


def read(text: Any) -> Any:
    """The value of such a JSON text; raises ValueError where it is none."""
    if not isinstance(text, str):
        raise ValueError("no text")  # noqa: TRY004 - to a caller any value that is no JSON text is the same
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_null, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_null, value))
    return value is None
