"""The initial data of a simulation: statuses and agent states as on a busy server, spread over two months."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeVar

from quarterdeck.client.models.enums import ExecutionStatus, GitProvider, SandboxStatus
from quarterdeck.local.records import stamp
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Store

T = TypeVar("T")
Row = tuple[Any, ...]

SEED = 1
"""Each simulation starts the same; another seed gives another start."""

SPECS = (
    Spec("simulated-base", ("agent-server", "--port", "1"), initial_env={"LOG_LEVEL": "info"}),
    Spec("simulated-node", ("agent-server", "--port", "1", "--node")),
    Spec("simulated-large", ("agent-server", "--port", "1", "--memory", "16g"), initial_env={"CACHE_TOKEN": "none"}),
)
"""The first spec is the default."""

_SHARES = {
    SandboxStatus.PAUSED: 60,
    SandboxStatus.RUNNING: 30,
    SandboxStatus.ERROR: 5,
    SandboxStatus.MISSING: 3,
    SandboxStatus.STARTING: 2,
}
"""Percentage of the sandboxes in each status."""
AGENTS = {
    ExecutionStatus.RUNNING: 35,
    ExecutionStatus.FINISHED: 25,
    ExecutionStatus.IDLE: 20,
    ExecutionStatus.WAITING_FOR_CONFIRMATION: 10,
    ExecutionStatus.PAUSED: 5,
    ExecutionStatus.ERROR: 3,
    ExecutionStatus.STUCK: 2,
}
"""Percentage of the agents in each status."""
_SPEC_SHARES = {SPECS[0].id: 70, SPECS[1].id: 20, SPECS[2].id: 10}
_CONVERSATION_COUNTS = {1: 76, 2: 9, 3: 3, 0: 12}
"""Percentage of the sandboxes that have that many conversations."""
_OLDEST = timedelta(days=60)

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


async def seed(store: Store, ids: Sequence[str], now: datetime) -> None:
    """Fill a store with sandboxes of these ids, newest first, and conversations; always the same."""
    rng = Random(f"sandboxes {SEED}")  # noqa: S311 - nothing here is secret
    sandboxes = [
        (
            sandbox_id,
            weighted(rng, _SPEC_SHARES),
            now - _OLDEST * (place + rng.random()) / len(ids) - timedelta(seconds=20),
            new_key(rng),
            weighted(rng, _SHARES),
        )
        for place, sandbox_id in enumerate(ids)
    ]
    rng = Random(f"conversations {SEED}")  # noqa: S311 - nothing here is secret
    async with store.transaction() as connection:
        await connection.executemany(
            "INSERT INTO sandboxes (id, spec_id, created_at, key, status, pid, ticks, boot)"
            " VALUES (?, ?, ?, ?, ?, 0, 0, '')",
            [(each, spec, stamp(born), key, status) for each, spec, born, key, status in sandboxes],
        )
        await connection.executemany(
            "INSERT INTO conversations (id, sandbox_id, title, repository, branch, git_provider, trigger, pr_number,"
            " llm_model, agent, cost, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, 'gui', '[]', ?, ?, ?, ?, ?)",
            list(_conversations(rng, sandboxes, now)),
        )


def new_id(rng: Random) -> str:
    """Return an id that shows that the sandbox is simulated."""
    return f"sim-{rng.getrandbits(48):012x}"


def new_key(rng: Random) -> str:
    """Return a text that looks like the key of a sandbox."""
    return f"simulated-{rng.getrandbits(128):032x}"


def _conversations(rng: Random, sandboxes: Sequence[Row], now: datetime) -> Iterator[Row]:
    """Yield the rows of the conversations in these sandboxes."""
    for sandbox_id, _, born, _, status in sandboxes:
        for _ in range(weighted(rng, _CONVERSATION_COUNTS)):
            yield _conversation(rng, sandbox_id, status, born + (now - born) * rng.random() / 10, now)


def _conversation(rng: Random, sandbox_id: str, status: SandboxStatus, born: datetime, now: datetime) -> Row:
    """Return the row of a conversation; a working one was just updated, the others some time ago."""
    agent = weighted(rng, AGENTS)
    quiet = timedelta(seconds=rng.uniform(0, 40))
    if agent is not ExecutionStatus.RUNNING or status is not SandboxStatus.RUNNING:
        quiet = min(timedelta(minutes=rng.expovariate(1 / 90)), (now - born) * 0.9)
    repository = None if rng.random() < 0.15 else f"{rng.choice(_OWNERS)}/{rng.choice(_REPOSITORIES)}"
    return (
        f"{rng.getrandbits(128):032x}",
        sandbox_id,
        _title(rng),
        repository,
        "main" if repository else None,
        GitProvider.GITHUB if repository else None,
        rng.choice(_MODELS),
        agent,
        rng.expovariate(1 / 1.5),
        stamp(born),
        stamp(max(born, now - quiet)),
    )


def _title(rng: Random) -> str:
    """Return a title as people write it, or the title before they do."""
    if rng.random() < 0.1:
        return f"Conversation {rng.getrandbits(20):05x}"
    return f"{rng.choice(_VERBS)} {rng.choice(_THINGS)}"


def weighted(rng: Random, weights: Mapping[T, float]) -> T:
    """Return one of these at random, by weight."""
    return rng.choices(list(weights), list(weights.values()))[0]
