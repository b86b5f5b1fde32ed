"""Start tasks, each about to be a conversation: how far it has come, whether it is shown, its row."""

from collections.abc import AsyncIterator, Collection, Container, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from quarterdeck.client.client import Client
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from quarterdeck.client.paging import Page
from quarterdeck.fleet.ages import AS_TOLD, ServerClock, stopwatch
from quarterdeck.fleet.conversations import Category, ConversationRow, ConversationState, row_of

STEPS: dict[str, str] = {
    StartTaskStatus.WORKING: "beginning",
    StartTaskStatus.WAITING_FOR_SANDBOX: "waiting for a sandbox",
    StartTaskStatus.PREPARING_REPOSITORY: "preparing repository",
    StartTaskStatus.RUNNING_SETUP_SCRIPT: "running setup script",
    StartTaskStatus.SETTING_UP_GIT_HOOKS: "setting up git hooks",
    StartTaskStatus.SETTING_UP_SKILLS: "setting up skills",
    StartTaskStatus.STARTING_CONVERSATION: "starting conversation",
}
"""The steps before READY, in their order, each with its words."""
_NUMBERS = {status: number for number, status in enumerate(STEPS, 1)}
FAILED = "failed"
"""The word for a start that came to nothing."""
SLOW_AFTER = timedelta(seconds=180)
"""Servers give up on an agent after 120 s; a task that is older by a good margin has no news to give."""
RECENT = timedelta(hours=1)
"""Servers list start tasks for ever; older ones than this are of no interest unless they were created here."""
FAILED_RECENTLY = timedelta(days=1)
"""The same for those that failed: each stays until somebody dismisses it."""


class StartProgress(NamedTuple):
    """Where a start task is."""

    words: str
    """"3/7 preparing repository", "ready", "failed", or the server's own word."""
    ended: bool = False
    failed: bool = False
    slow: bool = False
    detail: str = ""
    """What the server said about it, or what can be said in its place."""


def start_progress(task: StartTask, now: datetime) -> StartProgress:
    """Say where a task is now, by the server's clock."""
    detail = (task.detail or "").strip()
    if task.status == StartTaskStatus.READY:
        return StartProgress("ready", ended=True, detail=detail)
    if task.status == StartTaskStatus.ERROR:
        detail = detail or "No detail given; servers give up silently after 120 s."
        return StartProgress(FAILED, ended=True, failed=True, detail=detail)
    words = task.status
    if task.status in STEPS:
        words = f"{_NUMBERS[task.status]}/{len(STEPS)} {STEPS[task.status]}"
    if task.created_at is None or now - task.created_at <= SLOW_AFTER:
        return StartProgress(words, detail=detail)
    waited = stopwatch((now - task.created_at).total_seconds())
    no_news = f"It has taken {waited}; servers give up after 120 s, so it may never end."
    return StartProgress(words, slow=True, detail=detail or no_news)


def in_progress(tasks: Iterable[StartTask], now: datetime) -> frozenset[str]:
    """Which tasks have not ended and may still do so soon, for `Watch.look`; by the server's clock."""
    progress = [(task.id, start_progress(task, now)) for task in tasks]
    return frozenset(task_id for task_id, each in progress if not each.ended and not each.slow)


def worth_showing(
    task: StartTask, now: datetime, *, listed: Collection[str], followed: Collection[str], dismissed: Container[str]
) -> bool:
    """Whether a task is a row of its own: until its conversation is listed, or its failure was seen.

    `now` is by the server's clock. `listed` are the ids of known conversations, `followed` those of tasks created here,
    `dismissed` those of tasks that a person does not want to see.
    """
    if task.id in dismissed or task.app_conversation_id in listed:
        return False
    if task.id in followed:
        return True
    moment = task.changed_at
    limit = FAILED_RECENTLY if task.status == StartTaskStatus.ERROR else RECENT
    return moment is not None and now - moment <= limit


def start_row(task: StartTask, clock: ServerClock = AS_TOLD) -> ConversationRow:
    """Make the row of a start task."""
    progress = start_progress(task, clock.there)
    category = Category.TROUBLE if progress.failed or progress.slow else Category.BUSY
    state = ConversationState(progress.words, category, progress.detail)
    return row_of(task, task.request or NewConversation(), state, clock)


class StartTasks:
    """The newest start tasks as a list to watch: one page, as servers list them for ever."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def pages(self, *, background: bool = False) -> AsyncIterator[Page[StartTask]]:
        """The newest ones."""
        yield Page(await self._client.conversations.recent_start_tasks(background=background))

    async def read(self, ids: Sequence[str], *, background: bool = False) -> Sequence[StartTask | None] | None:
        """These ones."""
        return await self._client.conversations.start_tasks(ids, background=background)
