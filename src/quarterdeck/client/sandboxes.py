"""Sandboxes and the specs they are started from."""

from collections.abc import Set
from contextlib import suppress
from dataclasses import replace

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.models.sandbox import Sandbox, SandboxSpec
from quarterdeck.client.paging import Records
from quarterdeck.client.refusals import FAILED
from quarterdeck.client.request import Request, segment
from quarterdeck.client.transport import Transport

SANDBOXES = "/api/v1/sandboxes"
SPECS = "/api/v1/sandbox-specs"


class SandboxesResource(Records[Sandbox]):
    """Lists, starts, pauses, resumes and deletes sandboxes; every failure is a ServiceError.

    Starting and resuming may pause other sandboxes, so read the whole list after each.
    """

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, Sandbox, SANDBOXES, ids="id")
        self._specs = Records(transport, SandboxSpec, SPECS)

    async def start(self, spec_id: str | None = None) -> Sandbox:
        """Start a sandbox, from the server's default spec if none is given; this may take more than a minute.

        The spec is sent in the query (SERVERS.md: starting a sandbox).
        """
        query = (("sandbox_spec_id", spec_id),) if spec_id is not None else ()
        request = Request("POST", SANDBOXES, query, seconds=self._transport.limits.slow)
        response = await self._transport.send(request)
        try:
            return response.read_as(Sandbox, "It was started, but the server's answer cannot be read.")
        except ServiceError as error:
            raise replace(error, advice="Read the list again to find it.", outcome=Outcome.APPLIED) from None

    async def pause(self, sandbox_id: str) -> None:
        """Pause a sandbox; after a lost response it is read, and the request repeated once if it is not paused."""
        await self._change_status(sandbox_id, "pause", done=_PAUSED, not_done=_UP)

    async def resume(self, sandbox_id: str) -> None:
        """Resume a sandbox; after a lost response it is read, and the request repeated once if it is still paused."""
        await self._change_status(sandbox_id, "resume", done=_UP, not_done=_PAUSED)

    async def delete(self, sandbox_id: str) -> None:
        """Delete a sandbox; its id is sent in path and query, as servers need it (SERVERS.md: deleting a sandbox)."""
        path, query = f"{SANDBOXES}/{segment(sandbox_id)}", (("sandbox_id", sandbox_id),)
        seconds, lacking = self._transport.limits.slow, "This server cannot delete sandboxes."
        request = Request("DELETE", path, query, item=True, seconds=seconds, lacking=lacking)
        try:
            await self._transport.send(request)
        except ServiceError as error:
            if error.kind is not ErrorKind.MISSING or await self._status(sandbox_id) in (None, SandboxStatus.MISSING):
                raise
            words = f"It is still there: the server cannot delete sandboxes, or not this one (status {error.status})."
            raise replace(error, kind=ErrorKind.SERVER, words=words, advice="Its own log says more.") from None

    async def specs(self) -> tuple[SandboxSpec, ...]:
        """Read all specs; the first one is the server's default."""
        return await self._specs.whole()

    async def _change_status(self, sandbox_id: str, verb: str, *, done: Set[str], not_done: Set[str]) -> None:
        """Pause or resume a sandbox, once more if the server failed (SERVERS.md: pausing and resuming)."""
        request = Request("POST", f"{SANDBOXES}/{segment(sandbox_id)}/{verb}", item=True)
        for last in (False, True):
            try:
                await self._transport.send(request)
            except ServiceError as error:
                status = await self._status(sandbox_id) if error.outcome is Outcome.UNKNOWN else None
                if status in done:
                    return
                if status not in not_done:
                    raise
                if last:
                    raise _not_done(error) if error.status == FAILED else error from None
            else:
                return

    async def _status(self, sandbox_id: str) -> str | None:
        """Return a sandbox's status, None if it cannot be read."""
        with suppress(ServiceError):
            sandbox = await self.find(sandbox_id)
            return None if sandbox is None else sandbox.status
        return None


def _not_done(error: ServiceError) -> ServiceError:
    """Return the error for a failed request: after a server failure nothing is under way for the sandbox."""
    words = f"It was not done, the server failed with {error.status}. {error.server_words}".strip()
    advice = "Its own log says more."
    return replace(error, kind=ErrorKind.SERVER, words=words, advice=advice, outcome=Outcome.NOT_APPLIED)


_PAUSED: Set[str] = {SandboxStatus.PAUSED}
_UP: Set[str] = {SandboxStatus.STARTING, SandboxStatus.RUNNING}
"""Statuses of a sandbox that is up; an idle one nearly always reads STARTING."""
