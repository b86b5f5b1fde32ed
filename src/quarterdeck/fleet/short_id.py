"""The part of a sandbox's id that people read."""

SHORT = 6


def short_id(sandbox_id: str) -> str:
    """The first characters of what follows the last dash ("oh-agent-server-7WNtsgx" is "7WNtsg")."""
    return (sandbox_id.rpartition("-")[2] or sandbox_id)[:SHORT]
