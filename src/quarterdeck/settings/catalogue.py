"""The catalogue of settings and how each is edited; README says where a new field is declared, too."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from quarterdeck.client.flat import flat_rules
from quarterdeck.client.models.server import FieldRules, Generation
from quarterdeck.client.nested import NESTED_RULES
from quarterdeck.settings import checks
from quarterdeck.settings.fields import NUMBER, ON_OFF, READ_ONLY, SECRET, SERVERS, WHOLE, Field, Group

LANGUAGES = {
    "en": "English",
    "ja": "Japanese",
    "zh-CN": "Chinese, simplified",
    "zh-TW": "Chinese, traditional",
    "ko-KR": "Korean",
    "no": "Norwegian",
    "ar": "Arabic",
    "de": "German",
    "fr": "French",
    "it": "Italian",
    "pt": "Portuguese",
    "es": "Spanish",
    "tr": "Turkish",
    "uk": "Ukrainian",
}
AGENTS = dict.fromkeys(
    ("CodeActAgent", "BrowsingAgent", "VisualBrowsingAgent", "ReadOnlyAgent", "LocAgent", "DummyAgent"), ""
)
ANALYZERS = {
    "llm": "the model rates each action",
    "none": "ask before every action",
    "invariant": "Invariant rules, V0 only",
}
GROUPINGS = {
    "NO_GROUPING": "a sandbox for each conversation",
    "GROUP_BY_NEWEST": "share the newest",
    "LEAST_RECENTLY_USED": "share the least recently used",
    "FEWEST_CONVERSATIONS": "share the one with the fewest",
    "ADD_TO_ANY": "share any",
}
FACTORS = {1: "the usual size", 2: "twice as large", 4: "four times", 8: "eight times"}

WEB_ONLY = "Only the service's web pages use it."
_switch = partial(Field, kind=ON_OFF)


BY_GROUP: Mapping[Group, tuple[Field, ...]] = {
    Group.LLM: (
        Field(
            "llm_model",
            "Model",
            "The model that agents use, as provider/model: anthropic/claude-sonnet-4-5 for example.",
            checks=(checks.model,),
        ),
        Field(
            "llm_api_key",
            "API key",
            "The key for the model's provider. It stays unless you replace or clear it; the server never shows it.",
            SECRET,
        ),
        Field(
            "llm_base_url",
            "Base URL",
            "The address of the model, for a gateway or a model of your own. Not set: the provider's own address.",
            checks=(checks.address,),
            default="provider's own",
        ),
        Field(
            "search_api_key",
            "Search API key",
            "The key for web search by Tavily; those begin with tvly-.",
            SECRET,
            checks=(checks.search_key,),
        ),
    ),
    Group.AGENT: (
        Field(
            "agent",
            "Agent",
            "Which agent class runs a session.",
            choices=AGENTS,
            default="CodeActAgent",
        ),
        Field(
            "max_iterations",
            "Max iterations",
            "After how many steps a session stops, 1 or more.",
            kind=WHOLE,
            checks=(checks.between(1), checks.rarely_above(10_000)),
            default="500",
        ),
        Field(
            "max_budget_per_task",
            "Budget per task, USD",
            "How many dollars one conversation may cost. Not set or 0: no limit.",
            kind=NUMBER,
            checks=(checks.between(0), checks.small_budget),
            default="no limit",
        ),
        _switch(
            "confirmation_mode",
            "Ask before actions",
            "The agent waits for your yes before it acts.",
            default="off",
        ),
        Field(
            "security_analyzer",
            "Security analyzer",
            "Who judges how risky an action is; it matters only while the agent asks before actions.",
            choices=ANALYZERS,
            default="llm",
            needs=("confirmation_mode",),
        ),
        _switch(
            "enable_default_condenser",
            "Condense memory",
            "Old events are summarised, which saves tokens in long sessions.",
            nullable=False,
        ),
        Field(
            "condenser_max_size",
            "Condense after events",
            "How many events are kept before they are summarised, 20 or more.",
            kind=WHOLE,
            checks=(checks.between(20),),
            extra=True,
        ),
    ),
    Group.SANDBOX: (
        Field(
            "sandbox_base_container_image",
            "Base image",
            "The image a sandbox is built on, as repository/name:tag. Newer sandboxes come from a spec instead.",
            checks=(checks.image,),
        ),
        Field(
            "sandbox_runtime_container_image",
            "Runtime image",
            "A ready-made runtime image, as repository/name:tag. Newer sandboxes come from a spec instead.",
            checks=(checks.image,),
        ),
        Field(
            "remote_runtime_resource_factor",
            "Size factor",
            "How large a remote runtime is: 1, 2, 4 or 8 times the usual memory and processors.",
            kind=WHOLE,
            checks=(checks.between(1),),
            choices=FACTORS,
            default="1",
        ),
        Field(
            "sandbox_api_key",
            "Sandbox API key",
            "The key for a remote sandbox provider. No server tells whether one is stored.",
            SECRET,
        ),
        Field(
            "sandbox_grouping_strategy",
            "Grouping",
            "Whether a new conversation gets a sandbox of its own or shares a running one.",
            choices=GROUPINGS,
            nullable=False,
            extra=True,
        ),
    ),
    Group.MCP: (
        Field(
            "mcp_config",
            "MCP servers",
            "Tool servers that agents may use: a adds one, enter edits, Y copies, D deletes.",
            SERVERS,
        ),
    ),
    Group.GIT: (
        Field(
            "git_user_name",
            "Author name",
            "The author name of commits made in new sandboxes.",
            checks=(checks.git_identity,),
        ),
        Field(
            "git_user_email",
            "Author e-mail",
            "The author address of commits made in new sandboxes.",
            checks=(checks.git_identity, checks.mail),
        ),
        Field(
            "secrets_store",
            "Provider tokens",
            "Tokens for git providers that the server holds. Git tokens, below, sets them where the server allows it.",
            READ_ONLY,
        ),
    ),
    Group.INTERFACE: (
        Field(
            "language",
            "Language",
            f"The language of the service's pages. {WEB_ONLY}",
            choices=LANGUAGES,
            default="en",
        ),
        _switch(
            "enable_sound_notifications",
            "Sounds",
            f"A sound when an agent is done or waits. {WEB_ONLY}",
            nullable=False,
        ),
        _switch(
            "enable_proactive_conversation_starters",
            "Suggest tasks",
            f"Suggestions of what to start next. {WEB_ONLY}",
            nullable=False,
        ),
        _switch(
            "enable_solvability_analysis",
            "Solvability analysis",
            f"An estimate of whether an agent can solve an issue. {WEB_ONLY}",
            nullable=False,
        ),
    ),
    Group.PRIVACY: (
        _switch(
            "user_consents_to_analytics",
            "Usage analytics",
            "Whether the service may send anonymous usage statistics. Not set: you were never asked.",
        ),
        Field(
            "email",
            "Account e-mail",
            "The address of your account at the service.",
            checks=(checks.mail,),
        ),
        _switch(
            "email_verified",
            "E-mail verified",
            "Whether the service has confirmed that the address is yours; it sets this itself.",
        ),
    ),
}
CATALOGUE = tuple(replace(entry, group=group) for group, entries in BY_GROUP.items() for entry in entries)
"""The 25 fields of the documented record and two more that some servers' records have, by group."""


def takes(entry: Field) -> str:
    """Return in words which values a setting accepts."""
    words = ", ".join(map(str, entry.choices)) or entry.kind.words
    return f"{words}; when not set: {entry.default}" if entry.default else words


def servers_with(entry: Field) -> str:
    """Return in words which generations of servers have a setting."""
    rules = {Generation.FLAT: flat_rules(merges=False), Generation.NESTED: NESTED_RULES}
    having = [generation for generation, fields in rules.items() if fields.get(entry.key, FieldRules()).present]
    return " and ".join(having) + (", not in all releases" if entry.extra else "")
