"""Answers that are not what was asked for, in the shapes of real servers."""

import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError

from quarterdeck.local.errors import BusyError, LocalServiceError, TakenNameError, TokenRefusedError, UnknownNameError

Answers = Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]
"""What to answer to each kind of exception."""


def json_answer(status: int, body: Mapping[str, Any]) -> Response:
    """A JSON answer in ASCII, which also holds text that is no valid Unicode."""
    return Response(json.dumps(body), status, media_type="application/json")


async def on_invalid(_request: Request, error: Exception) -> Response:
    """Answer 422 as FastAPI does, except that `input` is null: it would echo secrets."""
    problems: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else []
    return json_answer(422, {"detail": [_problem(problem) for problem in problems]})


async def on_failure(_request: Request, error: Exception) -> Response:
    """Answer 500 with the words of a failure of ours, or of the database."""
    words = str(error) if isinstance(error, LocalServiceError) else f"The local service cannot use its data: {error}."
    return json_answer(500, {"detail": words})


async def on_busy(_request: Request, error: Exception) -> Response:
    """Answer 429, and when to come back."""
    answer = json_answer(429, {"detail": str(error)})
    if isinstance(error, BusyError):
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer


@dataclass(frozen=True)
class Words:
    """Answers with the text of an exception as the one member of an object."""

    status: int
    member: str

    async def __call__(self, _request: Request, error: Exception) -> Response:
        """Answer so."""
        return json_answer(self.status, {self.member: str(error)})


OF_ALL: Answers = {
    RequestValidationError: on_invalid,
    BusyError: on_busy,
    LocalServiceError: on_failure,
    sqlite3.Error: on_failure,
    OSError: on_failure,
}
"""What is answered alike in each generation."""

OF_FLAT: Answers = {
    UnknownNameError: Words(404, "error"),
    TakenNameError: Words(400, "message"),
    TokenRefusedError: Words(401, "error"),
}
"""What releases 1.2 and 1.6 answer to what they refuse."""


def _problem(problem: Mapping[str, Any]) -> dict[str, Any]:
    plain = {"type": problem["type"], "loc": list(problem["loc"]), "msg": problem["msg"], "input": None}
    context: Mapping[str, Any] = problem.get("ctx", {})
    if context:
        plain["ctx"] = {name: value if isinstance(value, str | int | float) else {} for name, value in context.items()}
    return plain
