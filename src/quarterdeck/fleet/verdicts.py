"""What readings say of something that was asked of a sandbox, for a bulk command."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.bulk_rows import Verdict
from quarterdeck.fleet.sandbox_state import Action, StateWord

if TYPE_CHECKING:
    from quarterdeck.fleet.sandbox_memory import SandboxMemory

_UP = frozenset({StateWord.STARTING, StateWord.RUNNING})


def change_verdict(memory: SandboxMemory | None, action: Action) -> Verdict | None:
    """Whether a pause, resume or start was seen done; `memory` is None for what is no longer listed.

    A change is done when it is seen: whoever asks for it makes sure it was not so before. What has failed instead
    stays so, and what was paused and runs again was resumed by somebody else.
    """
    if memory is None or memory.status == SandboxStatus.MISSING:
        return Verdict.GONE
    word = memory.settled.known
    if word is StateWord.ERROR:
        return Verdict.BROKEN
    if action is Action.PAUSE:
        return Verdict.DONE if word is StateWord.PAUSED else Verdict.UNDONE if memory.resumed else None
    return Verdict.DONE if word in _UP else None


def listed_verdict(row_id: str, listed: Container[str]) -> Verdict | None:
    """Whether the deletion of something without a state was seen done: it is no longer listed."""
    return None if row_id in listed else Verdict.DONE


def delete_verdict(memory: SandboxMemory | None) -> Verdict | None:
    """Whether a deletion was seen done: it is no longer listed, or listed as missing."""
    return Verdict.DONE if memory is None or memory.status == SandboxStatus.MISSING else None
