"""`quarterdeck sandboxes pause` and `resume`."""

from typing import Any

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.oneshot import with_client, words_of
from quarterdeck.cli.output import as_json, note, say
from quarterdeck.cli.sandbox_reading import read_until
from quarterdeck.config import Config
from quarterdeck.service.client import ServiceClient
from quarterdeck.service.errors import ServiceError
from quarterdeck.service.models.enums import SandboxStatus

PATIENCE = 60.0
"""Seconds until a change that is not seen counts as not done."""

_DEAD = (SandboxStatus.ERROR, SandboxStatus.MISSING)


def run(arguments: CommandLine, config: Config) -> int:
    """Pause or resume each sandbox; 0 only when all of them were read so afterwards."""

    async def change(client: ServiceClient) -> int:
        results = [await _change(client, sandbox_id, arguments.verb) for sandbox_id in arguments.ids]
        if arguments.json:
            as_json(results)
        else:
            for result in results:
                if result["done"]:
                    say(f"{result['id']}  {result['status']}")
        return 0 if all(result["done"] for result in results) else 1

    return with_client(arguments, config, change)


def has_worked(verb: str, status: str) -> bool:
    """Whether a reading proves the change: PAUSED a pause, any other a resume (an idle sandbox may read STARTING)."""
    if verb == "pause":
        return status == SandboxStatus.PAUSED
    return status != SandboxStatus.PAUSED and status not in _DEAD


async def _change(client: ServiceClient, sandbox_id: str, verb: str) -> dict[str, Any]:
    """Change one sandbox and say how it went; one that fails does not keep the next from being tried."""
    ask = client.sandboxes.pause if verb == "pause" else client.sandboxes.resume
    try:
        await ask(sandbox_id)
        status = await read_until(
            client, sandbox_id, lambda status: has_worked(verb, status) or status in _DEAD, PATIENCE
        )
    except ServiceError as error:
        note(f"{sandbox_id}: {words_of(error)}", error.advice)
        return {"id": sandbox_id, "done": False, "status": None}
    done = status is not None and has_worked(verb, status)
    if not done:
        note(f"{sandbox_id}: {verb} was asked for, but it reads {status or 'as gone'}.", "List the sandboxes again.")
    return {"id": sandbox_id, "done": done, "status": status}
