"""What is written of a record, in a log or a traceback, shows no secret."""

import pkgutil
from importlib import import_module

import pytest
from pydantic import BaseModel, SecretStr
from rich.pretty import pretty_repr

from quarterdeck import local
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.sandboxes import Sandbox

SECRET = "sentinel-secret"


def models() -> list[type[BaseModel]]:
    """Every model of the room."""
    modules = [import_module(info.name) for info in pkgutil.walk_packages(local.__path__, "quarterdeck.local.")]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    ours = [one for one in found if issubclass(one, BaseModel) and one.__module__.startswith("quarterdeck.local.")]
    return sorted(ours, key=lambda one: one.__name__)


@pytest.mark.parametrize("model", models())
def test_no_body_shows_what_any_of_its_members_holds(model: type[BaseModel]) -> None:
    body = model.model_construct(None, **dict.fromkeys([*model.model_fields, "unheard_of"], SECRET))
    assert SECRET in str(vars(body)) or not model.model_fields
    assert SECRET not in f"{body} {body!r} {pretty_repr(body)}"


def test_no_sandbox_shows_its_key() -> None:
    sandbox = Sandbox(id="a", spec_id="files", created_at="", key=SecretStr(SECRET), status=SandboxStatus.RUNNING)
    assert SECRET not in repr(sandbox)
