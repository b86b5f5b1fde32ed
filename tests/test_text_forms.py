import pkgutil
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.dataclasses import is_pydantic_dataclass
from rich.pretty import pretty_repr

from quarterdeck import local
from quarterdeck.client import models
from quarterdeck.client.models.base import Kept
from quarterdeck.client.models.event import StateEvent
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.redact import is_secret_name

SENTINEL = "sentinel-5f2a"
SECRET_URL = f"https://me:{SENTINEL}@host.example/?token={SENTINEL}"
UNKNOWN: dict[str, Any] = {"auth_token": SENTINEL, "headers": {"X-Any": SENTINEL}, "env": {"ANY": SENTINEL}}
UNKNOWN |= {"auth": {"strategy": "basic", "username": "me", "password": SENTINEL}, "homepage": SECRET_URL}
UNKNOWN |= {"deep": [{"clientSecret": {"value": SENTINEL}}, ["--api-key", SENTINEL, f"--token={SENTINEL}"]]}
"""Members that no record knows."""


def test_what_is_secret_by_its_name_is_told_in_one_place_and_a_change_of_such_a_state_is_hidden() -> None:
    changed = StateEvent.model_validate({"kind": "x", "id": "1", "key": "llm_api_key", "value": SENTINEL})
    assert SENTINEL not in f"{changed!r} {changed.model_dump_json()}"
    shown = StateEvent.model_validate({"kind": "x", "id": "1", "key": "execution_status", "value": "idle"})
    assert shown.model_dump(mode="json").items() >= {"key": "execution_status", "value": "idle"}.items()
    secret = ["llm_api_key", "X-Api-Key", "agent_settings.x.auth_token", "clientSecret", "env", f"{'long_' * 20}token"]
    secret += ["passwd", "passphrase", "db_pwd", "credentials", "Cookie", "authorization", "bearer"]
    plain = ["auth_type", "keyboard", "llm_model", "environments.mode", "token_limit"]
    assert [name for name in secret + plain if is_secret_name(name)] == secret


def records_of(package: ModuleType) -> list[type[Any]]:
    inside = f"{package.__name__}."
    modules = [import_module(found.name) for found in pkgutil.walk_packages(package.__path__, inside)]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    records = [each for each in found if issubclass(each, BaseModel) or is_pydantic_dataclass(each)]
    return sorted((each for each in records if each.__module__.startswith(inside)), key=lambda model: model.__name__)


def value_for(name: str, annotation: Any) -> Any:
    values: list[Any] = ["text", True, 1, "idle", "RUNNING", None, (), [UNKNOWN], UNKNOWN, {}]
    if "url" in name:
        values.insert(0, SECRET_URL)
    elif name == "args":
        values.insert(0, ["--token", SENTINEL])
    elif any(word in name for word in ("key", "token", "secret", "env", "leaves")) and not name.endswith("_set"):
        values[:0] = [SENTINEL, {"ANY_TOKEN": SENTINEL}]
    reader: TypeAdapter[Any] = TypeAdapter(annotation)
    for value in values:
        with suppress(ValidationError):
            reader.validate_python(value)
            return value
    raise AssertionError(f"nothing fits {name}: {annotation}")


def forms(record: Any) -> str:
    as_json = TypeAdapter(type(record)).dump_json(record).decode()
    return "\n".join((repr(record), str(record), f"{record}", pretty_repr(record), as_json))


@pytest.mark.parametrize("model", records_of(models))
def test_no_text_form_of_a_record_shows_a_secret(model: type[Any]) -> None:
    fields = getattr(model, "model_fields", None) or model.__pydantic_fields__
    told = {field.alias or name: value_for(name, field.annotation) for name, field in fields.items()}
    if issubclass(model, Kept):
        told |= UNKNOWN
    assert SENTINEL not in forms(TypeAdapter(model).validate_python(told))


def test_the_text_of_settings_shows_what_is_no_secret_and_none_of_what_tool_servers_hold() -> None:
    server = {"url": SECRET_URL, "api_key": SENTINEL, **UNKNOWN}
    stdio = {"name": "files", "command": "npx", "args": ["--token", SENTINEL, "plain"], "env": {"A": SENTINEL}}
    record = {
        "llm_model": "openai/gpt",
        "secrets_store": {"custom_secrets": {"A": SENTINEL}, "github": SENTINEL},
        "mcp_config": {"sse_servers": [server], "stdio_servers": [stdio], "unlisted": {"odd": UNKNOWN}},
        "leaves": {"agent_settings.x.auth_token": SENTINEL, "agent_settings.x.extra_headers": {"A": SENTINEL}},
        "provider_tokens_set": {"github": "github.example"},
    }
    settings = Settings.model_validate(record | UNKNOWN)
    text = forms(settings)
    assert SENTINEL not in text
    assert all(word in text for word in ("openai/gpt", "files", "plain", "github.example", "basic"))
    assert settings.model_dump()["headers"] == UNKNOWN["headers"]


@pytest.mark.parametrize("model", [each for each in records_of(local) if issubclass(each, BaseModel)])
def test_no_body_of_the_local_service_shows_what_any_of_its_members_holds(model: type[BaseModel]) -> None:
    body = model.model_construct(None, **dict.fromkeys([*model.model_fields, "unheard_of"], SENTINEL))
    assert SENTINEL in str(vars(body)) or not model.model_fields
    assert SENTINEL not in f"{body} {body!r} {pretty_repr(body)}"
