"""Start tasks, each of which becomes a conversation: its progress, and its row."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from quarterdeck.client.models.conversation import StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from quarterdeck.fleet.ages import AS_TOLD, ServerClock, stopwatch
from quarterdeck.fleet.conversations import Category, ConversationRow, ConversationState

STEPS: dict[str, str] = {
    StartTaskStatus.WORKING: "beginning",
    StartTaskStatus.WAITING_FOR_SANDBOX: "sandbox",
    StartTaskStatus.PREPARING_REPOSITORY: "repository",
    StartTaskStatus.RUNNING_SETUP_SCRIPT: "setup script",
    StartTaskStatus.SETTING_UP_GIT_HOOKS: "git hooks",
    StartTaskStatus.SETTING_UP_SKILLS: "skills",
    StartTaskStatus.STARTING_CONVERSATION: "conversation",
}
"""The steps before READY in their order: what is being made ready, short enough for its column."""
FAILED = "failed"
"""The status word of a failed start."""
SLOW_AFTER = timedelta(seconds=180)
"""Servers give up on an agent after 120 s; an older task is probably stuck."""
RECENT = timedelta(hours=1)
"""Servers list start tasks for ever; older ones are shown only if they were created here."""
FAILED_RECENTLY = timedelta(days=1)
"""The same for failed tasks, which stay until somebody dismisses them."""


def start_state(task: StartTask, now: datetime) -> ConversationState:
    """Return the status of a task, given the server's time: "3/7 repository", "ready", "failed"."""
    detail = (task.detail or "").strip()
    if task.status == StartTaskStatus.ERROR:
        return ConversationState(FAILED, Category.TROUBLE, detail or "The server does not say why.")
    word = "ready" if task.status == StartTaskStatus.READY else task.status
    if task.status in STEPS:
        word = f"{list(STEPS).index(task.status) + 1}/{len(STEPS)} {STEPS[task.status]}"
    waited = now - task.created_at if task.created_at is not None else timedelta()
    if waited < SLOW_AFTER or task.status == StartTaskStatus.READY:
        return ConversationState(word, Category.BUSY, detail)
    no_news = f"It has taken {stopwatch(waited.total_seconds())}; servers give up after 120 s, so it may never end."
    return ConversationState(word, Category.TROUBLE, detail or no_news)


def in_progress(tasks: Iterable[StartTask], now: datetime) -> frozenset[str]:
    """Return the ids of tasks that may still end soon, for `Viewport`; `now` is the server's time."""
    going_on = (task for task in tasks if task.status not in (StartTaskStatus.READY, StartTaskStatus.ERROR))
    return frozenset(task.id for task in going_on if start_state(task, now).category is Category.BUSY)


def is_recent(task: StartTask, now: datetime) -> bool:
    """Whether a task is new enough to be shown, whoever created it; `now` is the server's time."""
    moment = task.changed_at
    limit = FAILED_RECENTLY if task.status == StartTaskStatus.ERROR else RECENT
    return moment is not None and now - moment <= limit


def start_row(task: StartTask, clock: ServerClock = AS_TOLD) -> ConversationRow:
    """Return the row of a start task."""
    created, updated = clock.here(task.created_at), clock.here(task.changed_at)
    return ConversationRow(task.id, task, start_state(task, clock.there), created, updated)
