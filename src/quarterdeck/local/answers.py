"""Answers that are not what was asked for, in the shapes of real servers (contract h)."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError

from quarterdeck.local.errors import LocalServiceError


def json_answer(status: int, body: Mapping[str, Any]) -> Response:
    """A JSON answer in ASCII, which also holds text that is no valid Unicode."""
    return Response(json.dumps(body), status, media_type="application/json")


async def on_invalid(_request: Request, error: Exception) -> Response:
    """Answer 422 as FastAPI does, except that `input` is null: it would echo secrets (contract T24)."""
    problems: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else []
    return json_answer(422, {"detail": [_problem(problem) for problem in problems]})


async def on_failure(_request: Request, error: Exception) -> Response:
    """Answer 500 with the words of a failure of ours, or of the database."""
    words = str(error) if isinstance(error, LocalServiceError) else f"The local service cannot use its data: {error}."
    return json_answer(500, {"detail": words})


EXPECTED = {
    RequestValidationError: on_invalid,
    LocalServiceError: on_failure,
    sqlite3.Error: on_failure,
    OSError: on_failure,
}
"""What to answer to each kind of exception."""


def _problem(problem: Mapping[str, Any]) -> dict[str, Any]:
    told = {"type": problem["type"], "loc": list(problem["loc"]), "msg": problem["msg"], "input": None}
    context: Mapping[str, Any] = problem.get("ctx", {})
    plain: dict[str, Any] = {
        name: value if isinstance(value, str | int | float) else {} for name, value in context.items()
    }
    return told | ({"ctx": plain} if plain else {})
