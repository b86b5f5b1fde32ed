"""The values the deck knows for fields with a choice; all of them take others too (needs.md fact 0.4)."""

from collections.abc import Iterable, Mapping

from quarterdeck.settings.fields.field import Choice

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
AGENTS = ("CodeActAgent", "BrowsingAgent", "VisualBrowsingAgent", "ReadOnlyAgent", "LocAgent", "DummyAgent")
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


def explained(words: Mapping[str, str] | Mapping[int, str]) -> tuple[Choice, ...]:
    """Choices with words for each."""
    return tuple(Choice(value, text) for value, text in words.items())


def named(values: Iterable[str]) -> tuple[Choice, ...]:
    """Choices that explain themselves."""
    return tuple(Choice(value, "") for value in values)
