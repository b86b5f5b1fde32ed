"""Which saved settings conversations go by, and from when on."""

from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.settings import rules_of
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.form_fields import fields_on
from quarterdeck.settings.review import effect_word, until_when

FLAT = Server(Generation.FLAT, KeyState.ACCEPTED, fields=rules_of(Generation.FLAT, merges=False))
LOCAL = Server(Generation.FLAT, KeyState.ACCEPTED, local=True, fields=rules_of(Generation.FLAT, merges=True))
NESTED = Server(Generation.NESTED, KeyState.ACCEPTED, fields=rules_of(Generation.NESTED, merges=True))


def draft_on(server: Server) -> Draft:
    return Draft(Settings(language="en"), fields=fields_on(server, (), "openhands"))


def test_a_field_says_who_goes_by_it() -> None:
    words = {
        "llm_model": "",
        "max_budget_per_task": "V0 only",
        "sandbox_api_key": "V0 only",
        "language": "web only",
        "user_consents_to_analytics": "",
    }
    fields = draft_on(FLAT).fields.by_key
    assert {key: effect_word(fields[key], FLAT) for key in words} == words
    assert effect_word(fields["max_budget_per_task"], LOCAL) == ""
    assert effect_word(fields["max_budget_per_task"], None) == ""
    assert effect_word(draft_on(NESTED).fields.by_key["enable_solvability_analysis"], NESTED) == ""


def test_running_conversations_keep_the_old_values_of_what_they_go_by() -> None:
    model = draft_on(FLAT).set("llm_model", "a/b").set("language", "fr")
    assert until_when(model, FLAT, 0) == "new conversations only"
    assert until_when(model, FLAT, 1) == "new conversations only; 1 running keeps the old values"
    assert until_when(model, FLAT, 3) == "new conversations only; 3 running keep the old values"
    assert until_when(model, LOCAL, 3) == ""
    for key, value in (("language", "fr"), ("max_budget_per_task", 5.0), ("user_consents_to_analytics", True)):
        assert until_when(draft_on(FLAT).set(key, value), FLAT, 3) == ""
