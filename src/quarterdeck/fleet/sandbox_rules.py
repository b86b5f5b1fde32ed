"""What may be asked of a sandbox in which state, and why not otherwise, in a sentence that says what would help.

Servers never refuse by status; these are the rules of contract section e for people.
"""

from quarterdeck.fleet.sandbox_state import SandboxState, StateWord

_NO_PAUSE = {
    StateWord.PAUSED: "It is paused already; r resumes it.",
    StateWord.PAUSING: "It is being paused already.",
    StateWord.RESUMING: "It is being resumed; it can be paused once it runs.",
    StateWord.ERROR: "It has failed, so nothing in it can be paused; n starts a new one from the same spec.",
    StateWord.MISSING: "It is gone, so there is nothing to pause; n starts a new one.",
}
_NO_RESUME = {
    StateWord.RUNNING: "It is running already; p pauses it.",
    StateWord.STARTING: "It is starting already; it runs as soon as its server says so.",
    StateWord.RESUMING: "It is being resumed already.",
    StateWord.PAUSING: "It is being paused; it can be resumed once it is.",
    StateWord.ERROR: "It has failed and cannot be resumed; n starts a new one from the same spec.",
    StateWord.MISSING: "It is gone and cannot be resumed; n starts a new one.",
}


def why_not_pause(state: SandboxState) -> str | None:
    """Why it cannot be paused now; None when it can."""
    return _unknown(state) if state.known is None else _NO_PAUSE.get(state.known)


def why_not_resume(state: SandboxState) -> str | None:
    """Why it cannot be resumed now; None when it can."""
    return _unknown(state) if state.known is None else _NO_RESUME.get(state.known)


def why_not_delete(*, offered: bool) -> str | None:
    """Why it cannot be deleted; its state is never a reason, only a server that does not offer it is."""
    return None if offered else "This server cannot delete sandboxes; p pauses one, which stops what it does."


def why_not_open(state: SandboxState) -> str | None:
    """Why its addresses cannot be opened now; None when they can."""
    if state.known is StateWord.RUNNING:
        return None
    if state.known is StateWord.PAUSED:
        return "It has addresses only while it runs; r resumes it."
    return "It has addresses only while it runs."


def _unknown(state: SandboxState) -> str:
    """The server's own word is quoted raw; the screen cleans it."""
    return f"Its server calls it {state.word}, which Quarterdeck does not know; ctrl+r reads it again."
