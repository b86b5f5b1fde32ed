"""What there is to choose from: suggestions, since the service runs no agent and takes any text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """A model, named as `provider/name`."""

    provider: str
    name: str
    verified: bool = False


MODELS = (
    Model("anthropic", "claude-opus-4-5-20251101", verified=True),
    Model("anthropic", "claude-sonnet-4-5-20250929", verified=True),
    Model("anthropic", "claude-haiku-4-5-20251001", verified=True),
    Model("anthropic", "claude-sonnet-4-20250514", verified=True),
    Model("openai", "gpt-5", verified=True),
    Model("openai", "gpt-5-mini", verified=True),
    Model("openai", "gpt-4.1"),
    Model("gemini", "gemini-2.5-pro", verified=True),
    Model("gemini", "gemini-2.5-flash"),
    Model("mistral", "devstral-medium-2507", verified=True),
    Model("deepseek", "deepseek-chat", verified=True),
    Model("ollama", "llama3"),
)
AGENTS = ("BrowsingAgent", "CodeActAgent", "DummyAgent", "LocAgent", "ReadOnlyAgent", "VisualBrowsingAgent")
SECURITY_ANALYZERS = ("grayswan", "invariant", "llm")


def providers() -> dict[str, bool]:
    """Each provider of a model, and whether one of its models is verified."""
    found: dict[str, bool] = {}
    for model in MODELS:
        found[model.provider] = found.get(model.provider, False) or model.verified
    return found
