"""What a server says of its settings: forms of them, and suggestions for fields (SERVERS.md: schemas, suggestions)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import ValidationError

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.base import Listed, NullIsEmpty, Wire
from quarterdeck.client.models.server import Server
from quarterdeck.client.nested import AGENT, CANONICAL, CONVERSATION
from quarterdeck.client.paging import Records
from quarterdeck.client.redact import is_secret_name
from quarterdeck.client.refusals import not_offered
from quarterdeck.client.request import Request, read_json, wrong_api
from quarterdeck.client.transport import Transport

SCHEMA_PATHS: Mapping[str, str] = {
    AGENT: "/api/v1/settings/agent-schema",
    CONVERSATION: "/api/v1/settings/conversation-schema",
}
"""Section of the record -> where its schema is."""


class SchemaChoice(Wire):
    """One value of a field that takes only some."""

    value: Any
    label: str = ""


class SchemaField(Wire):
    """One setting of the nested generation.

    `place` and `depends_on` are dotted places as in `Settings.leaves`; `value_type` is string, integer, number,
    boolean, array or object; `variant` is the agent kind it is for, None for all. Bounds and nullability are not told.
    """

    place: str
    label: str
    description: str | None = None
    section: str = ""
    section_label: str = ""
    value_type: str = "string"
    default: Any = None
    prominence: str = "minor"
    """"critical", "major" or "minor"."""
    depends_on: tuple[str, ...] = ()
    """Shown only when each of these is on."""
    secret: bool = False
    choices: Annotated[tuple[SchemaChoice, ...], NullIsEmpty] = ()
    variant: str | None = None


def schema_fields(section: str, content: Any) -> tuple[SchemaField, ...]:
    """Read the fields of one section's schema, without those that are canonical fields or cannot be read.

    The same place comes once for each agent kind that has it. Raises ServiceError(WRONG_API) for anything else.
    """
    if not isinstance(content, dict) or not isinstance(content.get("sections"), list):
        raise wrong_api("The server answered something that is not a settings schema.", f"GET {SCHEMA_PATHS[section]}")
    fields = (_field(section, raw) for raw in _raw_fields(content["sections"]))
    return tuple(field for field in fields if field is not None and field.place not in CANONICAL)


def choices_at(content: Any, key: str) -> tuple[str, ...]:
    """The values that a schema allows one of its fields."""
    sections = content.get("sections") if isinstance(content, dict) else None
    for raw in _raw_fields(sections if isinstance(sections, list) else []):
        if raw.get("key") == key and (field := _field("", raw)) is not None:
            return tuple(choice.value for choice in field.choices if isinstance(choice.value, str))
    return ()


def _raw_fields(sections: list[Any]) -> Iterator[dict[str, Any]]:
    for section in sections:
        fields = section.get("fields") if isinstance(section, dict) else None
        yield from (raw for raw in fields if isinstance(raw, dict)) if isinstance(fields, list) else ()


def _field(section: str, raw: dict[str, Any]) -> SchemaField | None:
    key, others = raw.get("key"), raw.get("depends_on")
    if not isinstance(key, str):
        return None
    named = [other for other in others if isinstance(other, str)] if isinstance(others, list) else []
    told = {name: value for name, value in raw.items() if value is not None}
    place = f"{section}.{key}"
    # A text of such a name is secret whatever the server says of it.
    secret = told.get("secret") is True or (told.get("value_type", "string") == "string" and is_secret_name(place))
    known = {"place": place, "secret": secret, "depends_on": [f"{section}.{name}" for name in named]}
    try:
        return SchemaField.model_validate({"label": key, **told, **known})
    except ValidationError:
        return None


FLAT_OPTIONS = "/api/options"
MODELS = "/api/v1/config/models/search"
MOST = 5_000
"""Suggestions taken from one answer; the longest real list has some 2,500."""


class SuggestedModel(Wire):
    """A model that a nested server knows."""

    name: str
    provider: str | None = None
    hidden: bool = False

    @property
    def id(self) -> str:
        """What it is called in the settings."""
        return self.name if self.provider is None else f"{self.provider}/{self.name}"


class OptionsResource:
    """Reads suggestions for fields, none where a server has none; other failures are ServiceErrors.

    `server` gives what `describe()` found out.
    """

    def __init__(self, transport: Transport, server: Callable[[], Server]) -> None:
        self._transport = transport
        self._server = server
        self._models = Records(transport, Listed[SuggestedModel])

    async def models(self) -> tuple[str, ...]:
        """Models as provider/name; of a nested server the first page of those it has verified."""
        if not self._server().nested:
            return await self._texts("models")
        try:
            found = await self._models.newest(MODELS, ("verified__eq", "true"))
        except ServiceError as error:
            if not not_offered(error):
                raise
            return ()
        return tuple(model.id for model in found if not model.hidden)

    async def agents(self) -> tuple[str, ...]:
        """Agent classes."""
        return () if self._server().nested else await self._texts("agents")

    async def security_analyzers(self) -> tuple[str, ...]:
        """Security analyzers; a nested server names them in its schema."""
        if self._server().nested:
            return choices_at(await self._content(SCHEMA_PATHS[CONVERSATION]), "security_analyzer")
        return await self._texts("security-analyzers")

    async def _texts(self, name: str) -> tuple[str, ...]:
        content = await self._content(f"{FLAT_OPTIONS}/{name}")
        items = content[:MOST] if isinstance(content, list) else ()
        return tuple(item for item in items if isinstance(item, str))

    async def _content(self, path: str) -> Any:
        """Read an answer; None for a path that is not offered."""
        request = Request("GET", path)
        response = await self._transport.send_if_offered(request)
        return None if response is None else read_json(response.body, str(request), response.status)
