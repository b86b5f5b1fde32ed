"""Named language models: what is told of them, and what a change makes of the record."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from quarterdeck.local.errors import RefusalError
from tests.servers.nested.agent import Llm
from tests.servers.nested.block import TOLD
from tests.servers.nested.record import NestedRecord, Profiles

Record = dict[str, Any]
ProfileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
MOST = 10


class StrictLlm(Llm):
    """A language model with no member that is not known."""

    model_config = ConfigDict(extra="forbid")


class SaveProfileBody(BaseModel):
    """What to save: the model given, else the one in use."""

    include_secrets: bool = True
    llm: StrictLlm | None = None
    preserve_existing_api_key: bool = False


class RenameProfileBody(BaseModel):
    """The new name of a profile."""

    new_name: ProfileName


def listing(record: NestedRecord | None) -> Record:
    """All profiles in short, and which is in use."""
    kept = record.llm_profiles if record else Profiles()
    profiles = [
        {"name": name, "model": llm.model, "base_url": llm.base_url, "api_key_set": llm.api_key is not None}
        for name, llm in kept.profiles.items()
    ]
    return {"profiles": profiles, "active_profile": kept.active}


def detail(record: NestedRecord | None, name: str) -> Record:
    """All of one profile but its secrets."""
    llm = _profile(record.llm_profiles if record else Profiles(), name)
    return {"name": name, "config": llm.model_dump(mode="json", context=TOLD), "api_key_set": llm.api_key is not None}


def saved(record: NestedRecord, name: str, body: SaveProfileBody) -> NestedRecord:
    """With a profile, new or in the place of one of that name."""
    kept = record.llm_profiles
    if name not in kept.profiles and len(kept.profiles) >= MOST:
        raise RefusalError(f"There are {MOST} profiles, and there can be no more. Delete one of them first.", 409)
    llm = Llm.model_validate((body.llm or record.agent_settings.llm).model_dump())
    if not body.include_secrets:
        llm = Llm.model_validate(llm.model_dump(context=TOLD))
    if body.preserve_existing_api_key and llm.api_key is None and name in kept.profiles:
        llm = llm.model_copy(update={"api_key": kept.profiles[name].api_key})
    active = None if kept.active == name else kept.active
    return _with(record, kept.profiles | {name: llm}, active)


def activated(record: NestedRecord, name: str) -> NestedRecord:
    """With the model of a profile in use."""
    kept = record.llm_profiles
    agent = record.agent_settings.model_copy(update={"llm": _profile(kept, name)})
    return _with(record.model_copy(update={"agent_settings": agent}), kept.profiles, name)


def renamed(record: NestedRecord, name: str, new_name: str) -> NestedRecord:
    """With another name for a profile, in its place."""
    kept = record.llm_profiles
    _profile(kept, name)
    if new_name != name and new_name in kept.profiles:
        raise RefusalError(f"There is a profile {new_name} already.", 409)
    profiles = {new_name if one == name else one: llm for one, llm in kept.profiles.items()}
    return _with(record, profiles, new_name if kept.active == name else kept.active)


def deleted(record: NestedRecord, name: str) -> NestedRecord:
    """Without a profile, if there is one; when it was in use, the first of the others comes into use."""
    kept = record.llm_profiles
    rest = {one: llm for one, llm in kept.profiles.items() if one != name}
    without = _with(record, rest, None if kept.active == name else kept.active)
    return activated(without, next(iter(rest))) if kept.active == name and rest else without


def _profile(kept: Profiles, name: str) -> Llm:
    if name not in kept.profiles:
        raise RefusalError(f"There is no profile {name}.", 404)
    return kept.profiles[name]


def _with(record: NestedRecord, profiles: dict[str, Llm], active: str | None) -> NestedRecord:
    return record.model_copy(update={"llm_profiles": Profiles(profiles=profiles, active=active)})
