"""What a row of the conversations has to be for a command: listed, a start that failed, or one with an address."""

from __future__ import annotations

from quarterdeck.client.models.enums import StartTaskStatus
from quarterdeck.fleet.conversations import ConversationRow


def why_not(command: str, row: ConversationRow) -> str | None:
    """Why a command of the list cannot be done with a row, as a sentence; None when it can."""
    failed = row.task is not None and row.task.status == StartTaskStatus.ERROR
    match command:
        case "retry" if not failed:
            return "Only a start that failed can be tried again."
        case "delete" if row.task is not None and not failed:
            return "It is being started, and a server cannot stop that; wait until it is there."
        case "watch" if row.record is None:
            return "It is being started; it can be watched once it is there."
        case "rename" | "trajectory" if row.record is None:
            return "It is being started; wait until it is there."
        case "open_url" if row.record is None or row.record.conversation_url is None:
            return "It has an address only while its sandbox runs; r resumes it."
        case _:
            return None
