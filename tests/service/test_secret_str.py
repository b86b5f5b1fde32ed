"""Our `SecretStr` beside pydantic's: the same in models, on screen and in JSON."""

from typing import Annotated, Any

import pydantic
import pytest
from pydantic import BaseModel, StringConstraints, TypeAdapter, ValidationError

from quarterdeck.service.models.secret_str import SecretStr

BOTH = (SecretStr, pydantic.SecretStr)


def model_of(secret: Any) -> type[BaseModel]:
    class Holder(BaseModel):
        key: secret
        maybe: secret | None = None
        short: Annotated[secret, StringConstraints(max_length=5)] | None = None
        env: dict[str, secret] = {}

    return Holder


def told(secret: Any, value: dict[str, Any]) -> Any:
    try:
        holder = model_of(secret).model_validate(value)
    except ValidationError as error:
        return error.errors(include_url=False, include_context=False, include_input=False)
    return repr(holder), holder.model_dump_json(), str(holder.model_dump())


@pytest.mark.parametrize(
    "value",
    [
        {"key": "sentinel"},
        {"key": ""},
        {"key": None},
        {"key": 5},
        {},
        {"key": "a", "maybe": 5},
        {"key": "a", "short": "too long"},
        {"key": "a", "env": {"TOKEN": "sentinel"}},
        {"key": "a", "env": {"TOKEN": 5}},
    ],
)
def test_models_take_and_refuse_the_same(value: dict[str, Any]) -> None:
    ours, theirs = (told(secret, value) for secret in BOTH)
    assert ours == theirs
    assert "sentinel" not in str(ours)


def test_a_model_takes_one_as_it_is_and_describes_it_the_same() -> None:
    secret = SecretStr("sentinel")
    assert TypeAdapter(SecretStr).validate_python(secret) is secret
    ours, theirs = (model_of(secret).model_json_schema() for secret in BOTH)
    assert ours == theirs


def test_it_shows_nothing_of_itself_and_equals_its_like() -> None:
    secret = SecretStr("sentinel")
    assert "sentinel" not in f"{secret} {secret!r} {[secret]}"
    assert (secret == SecretStr("sentinel"), secret == SecretStr("other"), secret == "sentinel") == (True, False, False)
    assert (len(secret), secret.get_secret_value()) == (8, "sentinel")
