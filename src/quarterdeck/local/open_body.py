"""What all bodies share that are given back as they came: unknown members, and secrets."""

import json
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, PlainSerializer, SecretStr, StringConstraints, model_validator

Secret = Annotated[
    SecretStr,
    StringConstraints(max_length=20_000),
    PlainSerializer(lambda secret: secret.get_secret_value(), return_type=str),
]
"""A secret in a body; dumping the body, which is done to store it, gives its value."""


class OpenBody(BaseModel):
    """A body whose unknown members are kept, as long as JSON can carry them back."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _can_be_given_back(self) -> Self:
        try:
            json.dumps(self.model_extra, allow_nan=False, ensure_ascii=False).encode()
        except ValueError as error:  # NaN, Infinity, or half of a surrogate pair
            raise ValueError("a member that is not known holds what JSON cannot carry") from error
        return self
