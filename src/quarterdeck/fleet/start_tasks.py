"""How far a start task has come, in words (contract section g.2)."""

from collections.abc import Collection, Container, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from quarterdeck.client.models.enums import StartTaskStatus
from quarterdeck.fleet.ages import stopwatch

if TYPE_CHECKING:
    from quarterdeck.client.models.start_task import StartTask

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
"""The same for those that failed: each stays until somebody puts it away."""


class StartProgress(NamedTuple):
    """Where a start task is."""

    step: int
    """Which of the `len(STEPS)` steps it is in; 0 when it failed or its step is unknown."""
    words: str
    """"3/7 preparing repository", "ready", "failed", or the server's own word."""
    ended: bool = False
    failed: bool = False
    slow: bool = False
    detail: str = ""
    """What the server said about it, or what can be said in its place."""


def start_progress(task: "StartTask", now: datetime) -> StartProgress:
    """Say where a task is now."""
    said = (task.detail or "").strip()
    if task.status == StartTaskStatus.READY:
        return StartProgress(len(STEPS), "ready", ended=True, detail=said)
    if task.status == StartTaskStatus.ERROR:
        detail = said or "No detail given; servers give up silently after 120 s."
        return StartProgress(0, FAILED, ended=True, failed=True, detail=detail)
    step = _NUMBERS.get(task.status, 0)
    words = f"{step}/{len(STEPS)} {STEPS[task.status]}" if step else task.status
    if not _older(task, now, SLOW_AFTER):
        return StartProgress(step, words, detail=said)
    return StartProgress(step, words, slow=True, detail=said or _no_news(task, now))


def in_progress(tasks: "Iterable[StartTask]", now: datetime) -> frozenset[str]:
    """Which tasks have not ended and may still do so soon, for `Watch.look`."""
    return frozenset(
        task.id for task in tasks if not start_progress(task, now).ended and not _older(task, now, SLOW_AFTER)
    )


def worth_showing(
    task: "StartTask", now: datetime, *, listed: Collection[str], followed: Collection[str], dismissed: Container[str]
) -> bool:
    """Whether a task is a row of its own: until its conversation is listed, or its failure was seen.

    `listed` are the ids of known conversations, `followed` those of tasks created here, `dismissed` of tasks put away.
    """
    if task.id in dismissed or task.app_conversation_id in listed:
        return False
    if task.id in followed:
        return True
    moment = task.updated_at or task.created_at
    limit = FAILED_RECENTLY if task.status == StartTaskStatus.ERROR else RECENT
    return moment is not None and now - moment <= limit


def _older(task: "StartTask", now: datetime, limit: timedelta) -> bool:
    return task.created_at is not None and now - task.created_at > limit


def _no_news(task: "StartTask", now: datetime) -> str:
    waited = stopwatch((now - task.created_at).total_seconds()) if task.created_at else "long"
    return f"It has taken {waited}; servers give up after 120 s, so it may never end."
