"""Times as the service stores and tells them: UTC with microseconds and Z, so that their texts sort as they do."""

from datetime import UTC, datetime


def stamp(moment: datetime) -> str:
    """Write a time; one without a zone means UTC (contract T21)."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def now() -> str:
    """The time now."""
    return stamp(datetime.now(UTC))
