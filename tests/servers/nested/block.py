"""What all blocks of nested settings share: null means the default, secrets are told only to the store."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, PlainSerializer, SecretStr, SerializationInfo, model_validator

from quarterdeck.client.models.enums import is_mask

TOLD: Mapping[str, bool] = {"told": True}
"""The context in which a record is dumped to be told to a client; without it, it is dumped to be stored."""


def is_told(info: SerializationInfo) -> bool:
    """Whether a dump is for a client."""
    return info.context is TOLD


def _blank_is_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _mask_is_none(value: object) -> object:
    return None if isinstance(value, str) and is_mask(value) else value


def _value(secret: SecretStr, info: SerializationInfo) -> str | None:
    return None if is_told(info) else secret.get_secret_value()


Secret = Annotated[SecretStr, PlainSerializer(_value)]
"""A secret: stored in clear, told as null."""
Key = Annotated[Secret | None, BeforeValidator(_blank_is_none)]
"""A secret that blanks clear; a mask is taken for a secret."""
GuardedKey = Annotated[Key, BeforeValidator(_mask_is_none)]
"""A secret that blanks and masks clear."""
BlankIsNone = BeforeValidator(_blank_is_none)


class Block(BaseModel):
    """Part of nested settings: members that are not known are dropped, and null stands for the default."""

    never_null: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _null_is_default(cls, sent: object) -> object:
        if not isinstance(sent, dict):
            return sent
        return {name: value for name, value in sent.items() if value is not None or name in cls.never_null}
