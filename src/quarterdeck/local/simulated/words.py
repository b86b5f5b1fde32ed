"""What simulated conversations are about, and what simulated sandboxes are started from."""

from random import Random

from quarterdeck.local.specs import Spec

SPECS = (
    Spec("simulated-base", ("agent-server", "--port", "1"), environment={"LOG_LEVEL": "info"}),
    Spec("simulated-node", ("agent-server", "--port", "1", "--node")),
    Spec("simulated-large", ("agent-server", "--port", "1", "--memory", "16g"), environment={"CACHE_TOKEN": "none"}),
)
"""The first is the default."""

_VERBS = ("Fix", "Add", "Remove", "Explain", "Refactor", "Test", "Speed up", "Document", "Port", "Review")
_THINGS = (
    "the login page",
    "a retry to the uploader",
    "the flaky date test",
    "dark mode",
    "the search index",
    "unused settings",
    "the release script",
    "paging of invoices",
    "the cache of avatars",
    "error messages",
    "the import wizard",
    "rate limits",
)
_OWNERS = ("harbour", "northwind", "tidewater", "lantern")
_REPOSITORIES = ("web", "api", "billing", "docs", "mobile", "infra")
_MODELS = ("anthropic/claude-sonnet-4-5", "openai/gpt-5.1", "mistral/devstral-medium")


def a_title(dice: Random) -> str:
    """A title such as people give, or the one a conversation has before it is given any."""
    if dice.random() < 0.1:
        return f"Conversation {dice.getrandbits(20):05x}"
    return f"{dice.choice(_VERBS)} {dice.choice(_THINGS)}"


def a_repository(dice: Random) -> str | None:
    """An owner and a name; some conversations have none."""
    if dice.random() < 0.15:
        return None
    return f"{dice.choice(_OWNERS)}/{dice.choice(_REPOSITORIES)}"


def a_model(dice: Random) -> str:
    """A model's name."""
    return dice.choice(_MODELS)
