"""Settings as a server describes them for a form (contract section c.2)."""

from typing import Annotated, Any

from quarterdeck.client.models.base import NullIsEmpty, Wire


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
