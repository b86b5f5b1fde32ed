"""What is never sent: masks, and numbers and letters that JSON cannot hold."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, FieldProblem, Outcome, ServiceError
from quarterdeck.client.redact import Location, is_mask, replace_secrets


def refuse_unsendable(body: Mapping[str, Any]) -> None:
    """Raise ServiceError(INVALID) for a mask in place of a secret (SERVERS.md: masks), and for what is not valid JSON.

    That is a number that is not finite, which servers store as nothing, and half a character, which some store and then
    cannot read.
    """
    replace_secrets(body, _whole)
    for name, value in body.items():
        try:
            json.dumps(value, default=_text, allow_nan=False, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise invalid((name,), "this holds half a character.") from None
        except ValueError:
            raise invalid((name,), "this is not a finite number.") from None


def invalid(at: Location, message: str) -> ServiceError:
    """Make the error for a value that is not sent; `at` begins with the name of the field as a caller gave it."""
    return ServiceError(
        ErrorKind.INVALID,
        f"{'.'.join(map(str, at))}: {message}",
        "Change it and save again; nothing was sent.",
        outcome=Outcome.NOT_SENT,
        problems=(FieldProblem(at, message),),
    )


def _whole(at: Location, secret: str) -> str:
    if is_mask(secret):
        raise invalid(at, "this is a mask, not the value behind it.")
    return secret


def _text(value: object) -> str:
    """A secret as it will be written; anything else that JSON does not have is found when it is sent."""
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
