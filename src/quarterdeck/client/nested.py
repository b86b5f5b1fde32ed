"""The nested generation: its rules for each field, its records as canonical ones, and changes as diffs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import pydantic
from pydantic import InstanceOf, SecretStr, TypeAdapter, ValidationError

from quarterdeck.client.errors import FieldProblem
from quarterdeck.client.models.enums import Grouping
from quarterdeck.client.models.server import FieldRules
from quarterdeck.client.models.settings import Loss, Settings, SettingsChanges
from quarterdeck.client.nested_mcp import as_earlier, config_of, from_earlier, map_of, secrets_lost
from quarterdeck.client.redact import Location, invalid, is_secret_name

NESTED_SETTINGS = "/api/v1/settings"
AGENT, CONVERSATION = "agent_settings", "conversation_settings"
AGENT_KIND = f"{AGENT}.agent_kind"
CONDENSER = f"{AGENT}.condenser"
CONDENSER_KIND = f"{CONDENSER}.condenser_kind"
MCP = "mcp_config"
SECTIONS = (AGENT, CONVERSATION)
USUAL_KIND = "openhands"
SCHEMA_VERSION = f"{AGENT}.schema_version"
MAP_OF_SERVERS = 4
"""The first version that has MCP servers as one map by name (SERVERS.md: MCP servers of earlier records)."""
DIFFERS_AT_EACH_LOAD = f"{AGENT}.agent_context.current_datetime"
"""A leaf with a different value at every load."""

Whole = Annotated[int, pydantic.Field(ge=-(2**53), le=2**53)]
"""Integers that every JSON parser represents exactly."""
Secret = InstanceOf[SecretStr]


class NestedField(NamedTuple):
    """A canonical field: the type of its values, how it is unset, and its place unless that is the top level."""

    type: Any
    rules: FieldRules = FieldRules()
    place: str = ""


_SET = FieldRules(clearable=False)
"""A field that always has a value: null would be ignored or break it (SERVERS.md: unsetting a field)."""
# The server would replace null with the address of the model's provider.
_ADDRESS = FieldRules(clear_with="")

FIELDS: Mapping[str, NestedField] = {
    "language": NestedField(str),
    "remote_runtime_resource_factor": NestedField(Whole),
    "enable_sound_notifications": NestedField(bool, _SET),
    "enable_proactive_conversation_starters": NestedField(bool, _SET),
    "user_consents_to_analytics": NestedField(bool, _SET),
    "sandbox_base_container_image": NestedField(str),
    "sandbox_runtime_container_image": NestedField(str),
    "disabled_skills": NestedField(Sequence[str], _SET),
    "search_api_key": NestedField(Secret),
    "sandbox_api_key": NestedField(Secret, FieldRules(in_effect=False)),
    "max_budget_per_task": NestedField(float),
    "email": NestedField(str),
    "email_verified": NestedField(bool),
    "git_user_name": NestedField(str),
    "git_user_email": NestedField(str),
    "git_full_clone": NestedField(bool, _SET),
    "v1_enabled": NestedField(bool, _SET),
    "sandbox_grouping_strategy": NestedField(Grouping, _SET),
    "default_sandbox_spec_id": NestedField(str),
    "agent": NestedField(str, _SET, f"{AGENT}.agent"),
    "llm_model": NestedField(str, _SET, f"{AGENT}.llm.model"),
    "llm_api_key": NestedField(Secret, place=f"{AGENT}.llm.api_key"),
    "llm_base_url": NestedField(str, _ADDRESS, f"{AGENT}.llm.base_url"),
    "enable_default_condenser": NestedField(bool, _SET, f"{AGENT}.condenser.enabled"),
    "condenser_max_size": NestedField(Whole, _SET, f"{AGENT}.condenser.max_size"),
    "max_iterations": NestedField(Whole, _SET, f"{CONVERSATION}.max_iterations"),
    "confirmation_mode": NestedField(bool, _SET, f"{CONVERSATION}.confirmation_mode"),
    MCP: NestedField(Any, place=f"{AGENT}.{MCP}"),
    "security_analyzer": NestedField(Literal["llm", "none"], _SET, f"{CONVERSATION}.security_analyzer"),
}
"""Everything that may be sent, except leaves (SERVERS.md: the top level is stored unread)."""

PLACES: Mapping[str, str] = {name: field.place for name, field in FIELDS.items() if field.place}
CANONICAL: Mapping[str, str] = {place: name for name, place in PLACES.items()}
TAKES_ONLY = {name: get_args(field.type) for name, field in FIELDS.items() if get_origin(field.type) is Literal}
"""The values of fields for which any other is refused or, worse, stored and never read again."""
NESTED_RULES: Mapping[str, FieldRules] = {
    **{name: field.rules for name, field in FIELDS.items()},
    **dict.fromkeys((AGENT_KIND, "secrets_store"), _SET),
    "enable_solvability_analysis": FieldRules(present=False, clearable=False),
}


def nested_members(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the canonical members of a loaded record, with `leaves` and without null members, which are unset."""
    leaves = _leaves_of(content)
    members = {name: value for name, value in content.items() if name not in SECTIONS}
    members |= {name: leaves[place] for name, place in PLACES.items() if place in leaves}
    servers = (content.get(AGENT) or {}).get(MCP)
    if isinstance(servers, dict):
        members[MCP] = config_of(from_earlier(servers) if _is_earlier(leaves) else servers)
    return {name: value for name, value in members.items() if value is not None} | {"leaves": leaves}


def nested_body(base: Settings | None, changes: SettingsChanges) -> dict[str, Any]:
    """Return the diffs that store these changes and nothing else.

    Raises ServiceError(INVALID) for a value of a wrong type, a field that this generation lacks or would ignore, and a
    field that cannot be unset.
    """
    body: dict[str, Any] = {}
    if _clears_address(base, changes):
        changes = {**changes, "llm_base_url": None}
    for name, value in changes.items():
        if name == MCP:
            servers = {} if value is None else map_of(value)
            earlier = base is not None and _is_earlier(base.leaves)
            _put(body, PLACES[MCP], as_earlier(servers) if earlier else servers)
        elif name in FIELDS:
            _refuse_foreign(name, base, changes)
            _put(body, FIELDS[name].place or name, _checked(name, value, FIELDS[name].type))
        elif name.partition(".")[0] in SECTIONS:
            _refuse_wrong_place(name, base, changes)
            _put(body, name, _leaf(name, value, None if base is None else base.leaves.get(name)))
        else:
            raise invalid((name,), "this server has no such setting.")
    return body


def _is_earlier(leaves: Mapping[str, Any]) -> bool:
    """Whether a record is of releases before `MAP_OF_SERVERS`."""
    version = leaves.get(SCHEMA_VERSION)
    return isinstance(version, int) and version < MAP_OF_SERVERS


def nested_losses(base: Settings, changes: SettingsChanges) -> Iterator[Loss]:
    """Yield what a store loses without being named: a change of a kind loses the settings of the old kind."""
    kind = base.leaves.get(AGENT_KIND, USUAL_KIND)
    if changes.get(AGENT_KIND, kind) != kind:
        yield Loss(AGENT_KIND, certain=True)
        return
    if gone := gone_with_condenser(base, changes):
        yield Loss(CONDENSER_KIND, certain=True, parts=gone)
    if losing := secrets_lost(base, changes):
        yield Loss(MCP, certain=True, parts=losing)
    if base.llm_base_url and _clears_address(base, changes):
        yield Loss("llm_base_url", certain=True)


def gone_with_condenser(base: Settings | None, changes: SettingsChanges) -> tuple[str, ...]:
    """Return the settings that a change of the condenser's kind discards (SERVERS.md: agent kinds)."""
    kind = None if base is None else base.leaves.get(CONDENSER_KIND)
    if base is None or changes.get(CONDENSER_KIND, kind) == kind:
        return ()
    stays = (CONDENSER_KIND, PLACES["enable_default_condenser"])
    own = (place for place in base.leaves if place.startswith(f"{CONDENSER}.") and place not in stays)
    return tuple(CANONICAL.get(place, place) for place in own if base.leaves[place] is not None)


def gone_along(base: Settings | None, changes: SettingsChanges) -> tuple[str, ...]:
    """Return the settings that a store discards though the changes do not name them, and that have a value."""
    cleared = base is not None and base.leaves and base.llm_base_url and _clears_address(base, changes)
    return (*gone_with_condenser(base, changes), *(["llm_base_url"] if cleared else ()))


def _clears_address(base: Settings | None, changes: SettingsChanges) -> bool:
    """Whether a change of the model must clear its address, because that belongs to the old model's provider.

    A load hides an address that the server filled in, and a store keeps it for the new model. So a hidden address is
    cleared with any change of the model, a visible one only if the provider changes. If the changes contain an address,
    it is used (SERVERS.md: the address of a model).
    """
    if base is None or base.llm_model is None or "llm_base_url" in changes:
        return False
    new = changes.get("llm_model", base.llm_model)
    return new != base.llm_model and (not base.llm_base_url or _provider(new) != _provider(base.llm_model))


def _provider(model: object) -> str:
    """Return the part of a model's name before the first slash; empty if there is no slash."""
    return str(model).partition("/")[0] if "/" in str(model) else ""


def at_fields(problems: Iterable[FieldProblem], changes: SettingsChanges) -> tuple[FieldProblem, ...]:
    """Return a server's errors with the changed field as location, if it can be identified.

    The server's locations also contain the agent kind and the condenser's kind. For MCP servers the rest of the
    location is kept: the server's name and its member.
    """
    return tuple(FieldProblem(_field_at(problem.location, changes), problem.message) for problem in problems)


def _checked(name: str, value: object, kind: Any) -> object:
    """Return what to send for a value, which may be None; raises ServiceError(INVALID) for a wrong type.

    The rules are this generation's own and not those in a `Server`, so that a null that could not be read again is
    never sent.
    """
    if value is None:
        return NESTED_RULES.get(name, FieldRules()).unset(name)
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        raise invalid((name,), "this is not a valid value.") from None
    return value


def _field_at(location: Location, changes: SettingsChanges) -> Location:
    """Return the changed field whose place occurs in a location, in order; otherwise the location itself."""
    for name in changes:
        section, _, below = PLACES.get(name, name).partition(".")
        if _in_order((below if section in SECTIONS else name).split("."), map(str, location)):
            return location[location.index(MCP) :] if name == MCP else (name,)
    return location


def _in_order(wanted: Iterable[str], parts: Iterator[str]) -> bool:
    """Whether all wanted parts occur, in that order."""
    return all(each in parts for each in wanted)  # each search continues where the last one ended


def _leaves_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return every value by its place, down to the members of groups; deeper objects are values."""
    leaves: dict[str, Any] = {}
    for section in SECTIONS:
        for name, value in (content.get(section) or {}).items():
            if isinstance(value, dict) and name != MCP:
                leaves |= {f"{section}.{name}.{leaf}": held for leaf, held in value.items()}
            elif name != MCP:
                leaves[f"{section}.{name}"] = value
    leaves.pop(DIFFERS_AT_EACH_LOAD, None)
    return {
        place: None if isinstance(value, str) and is_secret_name(place) else value for place, value in leaves.items()
    }


def _refuse_foreign(name: str, base: Settings | None, changes: SettingsChanges) -> None:
    """Raise ServiceError(INVALID) for a field that this kind of agent lacks (SERVERS.md: agent kinds)."""
    place = FIELDS[name].place
    if base is None or AGENT_KIND in changes or not place.startswith(f"{AGENT}.") or place in base.leaves:
        return
    kind = base.leaves.get(AGENT_KIND, USUAL_KIND)
    if kind != USUAL_KIND:
        raise invalid((name,), f"agents of the kind {kind} have no such setting.")


def _refuse_wrong_place(place: str, base: Settings | None, changes: SettingsChanges) -> None:
    """Raise ServiceError(INVALID) for a place that has a canonical name, is invalid, or contains other places."""
    known = (*CANONICAL, *changes, *(() if base is None else base.leaves))
    canonical = place in CANONICAL or place.startswith(f"{PLACES[MCP]}.")
    no_leaf = "." not in place or "" in place.split(".")
    if canonical or no_leaf or any(other.startswith(f"{place}.") for other in known):
        raise invalid((place,), "this is not the place of one setting.")


def _leaf(place: str, value: Any, held: Any) -> Any:
    """Return what to send for a leaf: null sets the server's default, an object is merged into the stored one."""
    if isinstance(value, dict):
        return _patch(place, held if isinstance(held, dict) else {}, value)
    secret = isinstance(value, str) and is_secret_name(place)
    return _checked(place, value, Secret if secret else Any)


def _patch(place: str, held: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that turns one object into another (SERVERS.md: objects in the nested record)."""
    patch: dict[str, Any] = {name: None for name in held if name not in new}
    for name, value in new.items():
        if value is None:
            raise invalid((place, name), "an object here cannot contain null.")
        inner = held.get(name)
        old = inner if isinstance(inner, dict) else {}
        patch[name] = _patch(place, old, value) if isinstance(value, dict) else value
    return patch


def _put(body: dict[str, Any], place: str, value: Any) -> None:
    *groups, leaf = place.split(".")
    at = body
    for depth, group in enumerate(groups):
        at = at.setdefault(group if depth else f"{group}_diff", {})
    at[leaf] = value
