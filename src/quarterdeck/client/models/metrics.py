"""What a conversation has cost (contract section g.1)."""

from typing import Any, NamedTuple

from quarterdeck.client.models.members import members, number, optional, text, whole
from quarterdeck.client.models.packed import packed, unpacked


class TokenUsage(NamedTuple):
    """Tokens used so far, counts."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    context_window: int = 0


class Metrics:
    """Cost so far, in US dollars; it lags behind and is zero at first.

    Packed into one, for there are ten thousands, and of few is more looked at than what it cost. Each look unpacks it
    anew.
    """

    __slots__ = ("_packed",)

    def __init__(
        self,
        model_name: str | None = None,
        accumulated_cost: float | None = None,
        max_budget_per_task: float | None = None,
        accumulated_token_usage: TokenUsage | None = None,
    ) -> None:
        usage = None if accumulated_token_usage is None else tuple(accumulated_token_usage)
        self._packed = packed(model_name, accumulated_cost, max_budget_per_task, usage)

    @property
    def model_name(self) -> str | None:
        """The model that was paid for."""
        model: str | None = unpacked(self._packed)[0]
        return model

    @property
    def accumulated_cost(self) -> float | None:
        """US dollars so far."""
        cost: float | None = unpacked(self._packed)[1]
        return cost

    @property
    def max_budget_per_task(self) -> float | None:
        """US dollars that a task may cost at most."""
        budget: float | None = unpacked(self._packed)[2]
        return budget

    @property
    def accumulated_token_usage(self) -> TokenUsage | None:
        """Tokens so far."""
        usage = unpacked(self._packed)[3]
        return None if usage is None else TokenUsage(*usage)

    def _asdict(self) -> dict[str, Any]:
        """By name, as a named tuple has it."""
        model, cost, budget, _ = unpacked(self._packed)
        return {
            "model_name": model,
            "accumulated_cost": cost,
            "max_budget_per_task": budget,
            "accumulated_token_usage": self.accumulated_token_usage,
        }

    def __eq__(self, other: object) -> bool:
        return self._packed == other._packed if isinstance(other, Metrics) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._packed)


def read_metrics(value: object) -> Metrics:
    """Read what a conversation has cost; raises ValueError."""
    given = members(value).get
    return Metrics(
        optional(text, given("model_name")),
        optional(number, given("accumulated_cost")),
        optional(number, given("max_budget_per_task")),
        optional(_token_usage, given("accumulated_token_usage")),
    )


def _token_usage(value: object) -> TokenUsage:
    given = members(value).get
    return TokenUsage(
        whole(given("prompt_tokens", 0)),
        whole(given("completion_tokens", 0)),
        whole(given("cache_read_tokens", 0)),
        whole(given("cache_write_tokens", 0)),
        whole(given("reasoning_tokens", 0)),
        whole(given("context_window", 0)),
    )
