"""Walking through the JSON of a list, member by member: whoever visits a member decides whether its text is read."""

import json
import re
from collections.abc import Callable
from typing import Any

Visit = Callable[[str, int], int]
"""Takes the text and where a member of the list begins; gives where it ends, or a later one that was taken as well."""

decode = json.JSONDecoder().raw_decode
"""Reads one value out of a text; gives it and where it ends. Raises ValueError."""
_BLANKS = re.compile(r"[ \t\n\r]*")


def visit_list(text: str, visit: Visit) -> dict[str, Any]:
    """Have each member of a bare array, or of a page's `items`, visited; gives the other members of the page.

    Raises ValueError, IndexError or RecursionError for a text that is neither, or no JSON at all.
    """
    at = _skip(text, 0)
    others, at = ({}, _array(text, at, visit)) if text[at] == "[" else _object(text, at, visit)
    if _skip(text, at) != len(text):
        raise ValueError("something follows the list")
    return others


def _object(text: str, at: int, visit: Visit) -> tuple[dict[str, Any], int]:
    others: dict[str, Any] = {}
    at, listed, mark = _skip(text, _past(text, at, "{")), False, ","
    while mark == ",":
        name, at = decode(text, at)
        at = _skip(text, _past(text, _skip(text, at), ":"))
        if name == "items":
            at, listed = _array(text, at, visit), True
        else:
            others[name], at = decode(text, at)
        at = _skip(text, at)
        mark, at = text[at], _skip(text, at + 1)
    if mark != "}" or not listed:
        raise ValueError("this is no page of a list")
    return others, at


def _array(text: str, at: int, visit: Visit) -> int:
    at = _skip(text, _past(text, at, "["))
    if text[at] == "]":
        return at + 1
    mark = ","
    while mark == ",":
        at = _skip(text, visit(text, at))
        mark, at = text[at], _skip(text, at + 1)
    if mark != "]":
        raise ValueError("this list does not end")
    return at


def _past(text: str, at: int, mark: str) -> int:
    if text[at] != mark:
        raise ValueError(f"{mark} is missing")
    return at + 1


def _skip(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()
