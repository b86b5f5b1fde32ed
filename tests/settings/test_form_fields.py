import json
from typing import Any

import pytest

from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.client.models.server import FieldRules, Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested import AGENT_KIND
from quarterdeck.client.options import SchemaChoice, SchemaField
from quarterdeck.settings import checks
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Unreadable
from quarterdeck.settings.form_fields import FormFields, fields_on
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.review import Line, problems, review
from quarterdeck.settings.verify import verify
from quarterdeck.settings.words import editable

NESTED = Server(
    Generation.NESTED,
    KeyState.ACCEPTED,
    merges=True,
    fields={
        "enable_solvability_analysis": FieldRules(present=False),
        "confirmation_mode": FieldRules(clearable=False),
    },
)
AGENT, VERIFICATION = "agent_settings", "agent_settings.verification"


def described(place: str, value_type: str = "string", variant: str | None = "openhands", **more: Any) -> SchemaField:
    section = place.split(".")[1]
    return SchemaField(
        place=place,
        label=section,
        section=section,
        section_label=section,
        value_type=value_type,
        variant=variant,
        **more,
    )


SCHEMA = (
    described(f"{AGENT}.llm.timeout", "integer", default=300),
    described(f"{AGENT}.llm.extra_headers", "object"),
    described(f"{AGENT}.llm.effort", choices=(SchemaChoice(value="low", label="Low"), SchemaChoice(value="high"))),
    described(f"{VERIFICATION}.critic_enabled", "boolean", default=False, prominence="critical"),
    described(
        f"{VERIFICATION}.critic_key", secret=True, depends_on=(f"{VERIFICATION}.critic_enabled",), prominence="major"
    ),
    described(f"{AGENT}.acp_model", variant="acp"),
)
LEAVES = {
    AGENT_KIND: "openhands",
    f"{AGENT}.llm.timeout": 60,
    f"{AGENT}.llm.extra_headers": {"Authorization": "Bearer sentinel", "X-Team": "sentinel"},
    f"{VERIFICATION}.critic_enabled": False,
}
STORED = Settings(llm_model="a/b", confirmation_mode=False, leaves=LEAVES)


def draft(kind: str = "openhands") -> Draft:
    return Draft(STORED.model_copy(update={"leaves": LEAVES | {AGENT_KIND: kind}}), fields=on(NESTED, kind))


def on(server: Server, kind: str = "openhands") -> FormFields:
    return fields_on(server, SCHEMA, kind)


@pytest.mark.parametrize(
    ("place", "typed", "value"),
    [
        (f"{AGENT}.llm.timeout", "30", 30),
        (f"{AGENT}.llm.timeout", "", 300),
        (f"{AGENT}.llm.timeout", "soon", Unreadable("soon")),
        (f"{AGENT}.llm.extra_headers", '{"a": 1}', {"a": 1}),
        (f"{AGENT}.llm.extra_headers", "[1]", Unreadable("[1]")),
        (f"{AGENT}.llm.extra_headers", "", None),
    ],
)
def test_what_is_typed_is_read_by_the_type_the_server_names(place: str, typed: str, value: object) -> None:
    entry = on(NESTED).by_key[place]
    assert entry.reads(typed) == value
    assert value is None or any(checks.problems(entry, value)) is isinstance(value, Unreadable)


def test_an_object_is_shown_without_what_may_be_secret_in_it() -> None:
    place = f"{AGENT}.llm.extra_headers"
    entry = on(NESTED).by_key[place]
    shown = editable(entry, draft().value(place))
    assert set(json.loads(shown)) == {"Authorization", "X-Team"}
    assert "sentinel" not in shown
    (problem,) = draft().set(place, entry.reads(shown)).errors
    assert "hidden part" in problem.words
    assert "sentinel" not in repr(review(draft().set(place, {"X-Team": "sentinel"}), NESTED).lines)


def test_another_kind_of_agent_is_a_loss_and_saved_alone() -> None:
    switched = draft().set(AGENT_KIND, "acp")
    (loss,) = review(switched, NESTED).losses
    assert "openhands" in loss.words
    assert not any(problem.stops for problem in problems(switched, NESTED))
    both = (
        switched.set("llm_model", "c/d")
        .set("language", "de")
        .change_servers(Servers.add, StdioServer(name="x", command="y"))
    )
    stopped = [(problem.key, problem.row) for problem in problems(both, NESTED) if problem.stops]
    assert stopped == [("llm_model", None), (MCP, 0)]
    found = Settings(leaves={AGENT_KIND: "acp"}, confirmation_mode=False)
    assert verify(switched, found).stored, "another kind brings settings of its own"


def test_edits_of_a_field_that_is_gone_stay_and_stop_a_save() -> None:
    place = f"{AGENT}.llm.timeout"
    assert review(draft().set(place, 30), NESTED).lines == (Line("set", "llm", "60", "30", place=place),)
    edited = draft().set(place, 30).set("language", "de")
    flat = Server(Generation.FLAT, KeyState.ACCEPTED)
    moved = edited.with_fields(fields_on(flat, (), "openhands"))
    assert moved.edits == edited.edits
    (problem,) = [problem for problem in problems(moved, flat) if problem.stops]
    assert "no such setting" in problem.words
    assert not problems(moved.revert(problem.key), flat)
