"""A text that does not print itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

STARS = "**********"


class SecretStr:
    """A secret: only `get_secret_value` gives its text away; shown, logged or written as JSON it is stars.

    It behaves as pydantic's class of this name and can be a member of pydantic's models. That one is not used because
    every record of a list may hold a secret, and importing it takes as long as all of httpx.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def get_secret_value(self) -> str:
        """The text."""
        return self._value

    def __len__(self) -> int:
        return len(self._value)

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, SecretStr) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __str__(self) -> str:
        return STARS if self._value else ""

    def __repr__(self) -> str:
        return f"SecretStr('{self}')"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """How a pydantic model reads one, from a text or as it is, and writes it to JSON."""
        from pydantic_core import core_schema

        made = core_schema.no_info_after_validator_function(cls, core_schema.str_schema())
        given = core_schema.is_instance_schema(cls)
        return core_schema.json_or_python_schema(
            json_schema=made,
            python_schema=core_schema.union_schema([given, made], custom_error_type="string_type"),
            serialization=core_schema.plain_serializer_function_ser_schema(str, when_used="json"),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """How OpenAPI describes one."""
        return {"type": "string", "writeOnly": True, "format": "password"}
