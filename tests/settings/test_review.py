from quarterdeck.client.models.mcp import ShttpServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.options import SchemaField
from quarterdeck.client.settings import rules_of
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.form_fields import fields_on
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.review import ReviewLine, problems, review, until_when

MERGING = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True)
NESTED = Server(Generation.NESTED, KeyState.ACCEPTED, merges=True)
STORED = Settings(llm_model="openai/gpt-5", llm_api_key_set=True)


def test_each_change_is_a_line_from_old_to_new() -> None:
    draft = Draft(STORED).set("llm_model", "a/b").set("confirmation_mode", True).set("max_budget_per_task", 5.0)
    tool = ShttpServer.model_validate({"url": "https://a.example/mcp", "api_key": "a", "headers": {"X-Team": "b"}})
    draft = draft.change_servers(Servers.add, tool)
    assert review(draft, MERGING).lines == (
        ReviewLine("set", "Model", "openai/gpt-5", "a/b"),
        ReviewLine("set", "Budget per task, USD", "not set", "5"),
        ReviewLine("set", "Ask before actions", "not set", "on"),
        ReviewLine("added", "HTTP https://a.example/mcp", "", "with key, header X-Team"),
    )


def test_only_warnings_about_edited_things_are_repeated() -> None:
    draft = Draft(Settings(max_iterations=-5)).set("llm_model", "plain")
    (warning,) = review(draft, MERGING).warnings
    assert warning.startswith("Model: ")


FLAT = Server(Generation.FLAT, KeyState.ACCEPTED, fields=rules_of(Generation.FLAT, merges=False))
LOCAL = Server(Generation.FLAT, KeyState.ACCEPTED, local=True, fields=rules_of(Generation.FLAT, merges=True))


def test_running_conversations_keep_the_old_values_of_what_they_go_by() -> None:
    draft = Draft(Settings(language="en"), fields=fields_on(FLAT, (), "openhands"))
    model = draft.set("llm_model", "a/b").set("language", "fr")
    assert until_when(model, FLAT, 0) == "new conversations only"
    assert until_when(model, FLAT, 1) == "new conversations only; 1 running keeps the old values"
    assert until_when(model, FLAT, 3) == "new conversations only; 3 running keep the old values"
    assert until_when(model, LOCAL, 3) == ""
    for key, value in (("language", "fr"), ("max_budget_per_task", 5.0), ("user_consents_to_analytics", True)):
        assert until_when(draft.set(key, value), FLAT, 3) == ""


def test_edits_of_a_field_that_is_gone_stay_and_stop_a_save() -> None:
    place = "agent_settings.llm.timeout"
    words = {"label": "timeout", "section": "llm", "section_label": "LLM"}
    timeout = SchemaField(place=place, value_type="integer", variant="openhands", default=300, **words)
    described = Draft(Settings(leaves={place: 60}), fields=fields_on(NESTED, (timeout,), "openhands"))
    assert review(described.set(place, 30), NESTED).lines == (ReviewLine("set", "timeout", "60", "30", place=place),)
    edited = described.set(place, 30).set("language", "de")
    flat = Server(Generation.FLAT, KeyState.ACCEPTED)
    moved = edited.with_fields(fields_on(flat, (), "openhands"))
    assert moved.edits == edited.edits
    (problem,) = [problem for problem in problems(moved, flat) if problem.stops]
    assert "no such setting" in problem.words
    assert not problems(moved.revert(problem.key), flat)
