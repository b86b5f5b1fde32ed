"""The server's descriptions of its settings (SERVERS.md: schemas), and suggestions for fields."""

from typing import Any

from pydantic import ValidationError

from quarterdeck.client.models.base import Wire
from quarterdeck.client.nested import NESTED_SETTINGS
from quarterdeck.client.paging import Records
from quarterdeck.client.redact import is_secret_name
from quarterdeck.client.request import Request
from quarterdeck.client.transport import Transport


class SchemaChoice(Wire):
    """One value of a field that has only certain values."""

    value: Any
    label: str = ""


class SchemaField(Wire):
    """One setting of the nested generation.

    `place` and `depends_on` are dotted places as in `Settings.leaves`; `value_type` is string, integer, number,
    boolean, array or object; `variant` is the agent kind it belongs to, None for all. Schemas contain no bounds and no
    nullability.
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
    """It is shown only if each of these is on."""
    secret: bool = False
    choices: tuple[SchemaChoice, ...] = ()
    variant: str | None = None


async def read_schema(transport: Transport, section: str) -> tuple[SchemaField, ...]:
    """Read a server's own description of one section, skipping unreadable fields; empty if it has none.

    A place occurs once for each agent kind that has it. Raises ServiceError(WRONG_API) if the response is not a schema.
    """
    path = f"{NESTED_SETTINGS}/{section.removesuffix('_settings')}-schema"
    response = await transport.send_if_offered(Request("GET", path))
    if response is None:
        return ()
    content = response.json()
    sections = content.get("sections") if isinstance(content, dict) else None
    if not isinstance(sections, list):
        raise response.wrong_api("The server answered something that is not a settings schema.")
    listed = [each.get("fields") for each in sections if isinstance(each, dict)]
    fields = (_field(section, raw) for each in listed if isinstance(each, list) for raw in each)
    return tuple(field for field in fields if field is not None)


def _field(section: str, raw: Any) -> SchemaField | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("key"), str):
        return None
    told = {name: value for name, value in raw.items() if value is not None}
    place, others = f"{section}.{raw['key']}", told.get("depends_on")
    # A text with such a name is secret, whatever the schema says.
    secret = told.get("secret") is True or (told.get("value_type", "string") == "string" and is_secret_name(place))
    depends_on = [f"{section}.{other}" for other in others] if isinstance(others, list) else []
    known = {"place": place, "secret": secret, "depends_on": depends_on}
    try:
        return SchemaField.model_validate({"label": raw["key"], **told, **known})
    except ValidationError:
        return None


SUGGESTED = {"llm_model": "models", "agent": "agents", "security_analyzer": "security-analyzers"}
"""The settings for which servers suggest values, and what flat ones call the list (SERVERS.md: suggestions)."""
MODELS = "/api/v1/config/models"
MOST = 5_000
"""Maximum number of suggestions taken from one response; the longest real list has about 2,500."""


class SuggestedModel(Wire):
    """A model that a nested server knows."""

    name: str
    provider: str | None = None
    hidden: bool = False

    @property
    def id(self) -> str:
        """Its name in the settings."""
        return self.name if self.provider is None else f"{self.provider}/{self.name}"


async def suggestions(transport: Transport, key: str) -> tuple[str, ...]:
    """Return values for a setting of `SUGGESTED`, models as provider/name; empty if a server has none.

    A nested server suggests models alone: the first page of those that it has verified. Raises ServiceError.
    """
    if transport.server.nested:
        if key != "llm_model":
            return ()
        found = await Records(transport, SuggestedModel, MODELS).newest(("verified__eq", "true"))
        return tuple(model.id for model in found.items if not model.hidden)
    response = await transport.send_if_offered(Request("GET", f"/api/options/{SUGGESTED[key]}"))
    content = None if response is None else response.json()
    items = content[:MOST] if isinstance(content, list) else ()
    return tuple(item for item in items if isinstance(item, str))
