"""The agent server of one conversation: its events, its state, and requests to the agent.

It runs in the sandbox; its key is the sandbox's own and is sent to its own origin only (SERVERS.md: the agent server of
a conversation).
"""

from typing import Any, Self

from pydantic import SecretStr

from quarterdeck.client.describe import read_object, release_in
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.event import AgentState, EventPage, Policy
from quarterdeck.client.network import is_loopback, shown_host
from quarterdeck.client.request import Query, Request, Response, segment
from quarterdeck.client.transport import Transport

API = "/api/conversations/"
SAFE_SOCKETS = (1, 16)
"""Agent servers before this version stop responding to everybody if a socket is opened while an agent works."""
UNREADABLE = "The agent server's answer cannot be read."
MOST = "100"
"""Events per page; a server closes the connection if more are requested."""
FEW = "10"
"""Events per page where so many more are too large: an edit has its whole file, before and after."""
NEVER = Policy(kind="NeverConfirm")
ALWAYS = Policy(kind="AlwaysConfirm")
RISKY = Policy(kind="ConfirmRisky", threshold="MEDIUM", confirm_unknown=True)


class AgentServer:
    """One conversation on its agent server; every failure is a ServiceError.

    Reads are answered at once, even while a tool runs. Requests to the agent may be delayed until the tool ends, so a
    missing response does not mean that nothing happens.
    """

    def __init__(self, transport: Transport, conversation_id: str) -> None:
        self.transport = transport
        self.conversation_id = conversation_id
        self._path = f"{API}{segment(conversation_id)}"

    @classmethod
    def at(cls, transport: Transport, conversation_url: SecretStr, key: SecretStr) -> Self:
        """Create one from a record's address of a conversation.

        Raises ServiceError: LOCAL for an invalid address, NOT_OFFERED for an address that is local to another machine.
        """
        base, found, conversation_id = conversation_url.get_secret_value().partition(API)
        if not found:
            words = "The address of this conversation's agent server cannot be read."
            raise ServiceError(ErrorKind.LOCAL, words, outcome=Outcome.NOT_SENT)
        there = transport.for_address(base, key)
        if is_loopback(base) and not is_loopback(transport.url):
            words = f"Its agent server is at {shown_host(base)} of another machine, which cannot be reached from here."
            raise ServiceError(ErrorKind.NOT_OFFERED, words, outcome=Outcome.NOT_SENT)
        return cls(there, conversation_id.partition("?")[0].strip("/"))

    # Reads

    async def alive(self) -> bool:
        """Whether it responds; no key is sent."""
        return await self.transport.alive(self.transport.url)

    async def safe_socket(self) -> bool:
        """Whether a socket may be opened at any time (SERVERS.md: its socket); not if the version is unknown."""
        request = Request("GET", "/server_info", seconds=self.transport.limits.quick, background=True)
        version = release_in(await read_object(self.transport, request))[:20]  # more digits may be too many for `int`
        return tuple(int(each) for each in version.split(".") if each.isdecimal()) >= SAFE_SOCKETS

    async def state(self) -> AgentState:
        """Return the current state of the conversation."""
        return (await self._read(self._path, item=True)).read_as(AgentState, UNREADABLE)

    async def events(self, page_id: str | None = None, *, newest_first: bool = False) -> EventPage:
        """Read a page of the log (SERVERS.md: its log), which begins with that event."""
        path, query = f"{self._path}/events/search", _page_query(page_id, newest_first=newest_first)
        try:
            page = await self._read(path, query)
        except ServiceError as error:
            if error.kind is not ErrorKind.TOO_LARGE:
                raise
            page = await self._read(path, (("limit", FEW), *query[1:]))
        return page.read_as(EventPage, UNREADABLE)

    async def _read(self, path: str, query: Query = (), *, item: bool = False) -> Response:
        seconds = self.transport.limits.quick
        return await self.transport.send(Request("GET", path, query, item=item, seconds=seconds, background=True))

    # Requests to the agent

    async def send(self, text: str) -> None:
        """Add a person's message to the log without running the agent; `run` is a separate request.

        While a tool runs, the response is delayed until the tool ends.
        """
        content = [{"type": "text", "text": text}]
        await self._post("/events", {"role": "user", "content": content, "run": False})

    async def run(self) -> None:
        """Let the agent continue; this also runs the actions that wait for approval.

        Raises ServiceError(CONFLICT) if it is already running.
        """
        await self._post("/run")

    async def pause(self) -> None:
        """Stop the agent after its current step; the response may be delayed until then."""
        await self._post("/pause")

    async def interrupt(self) -> None:
        """Stop the agent during its step; raises ServiceError(NOT_OFFERED) if the server cannot do that."""
        lacking = "This agent server only stops after a step."
        await self._post("/interrupt", seconds=self.transport.limits.quick, lacking=lacking)

    async def answer(self, *, accept: bool) -> None:
        """Accept or refuse whatever actions are pending by now: the request names no action."""
        await self._post("/events/respond_to_confirmation", {"accept": accept})

    async def set_policy(self, policy: Policy) -> None:
        """Set when the agent asks; the setting is lost when the agent server restarts."""
        await self._post("/confirmation_policy", {"policy": policy.model_dump(exclude_defaults=True)})

    async def _post(self, what: str, body: Any = None, *, seconds: float | None = None, lacking: str = "") -> None:
        path, seconds, item = f"{self._path}{what}", seconds or self.transport.limits.slow, what == "/events"
        await self.transport.send(Request("POST", path, body=body, item=item, seconds=seconds, lacking=lacking))


async def copied_events(transport: Transport, conversation_id: str, page_id: str | None = None) -> EventPage:
    """Read a page of the app server's copy of a conversation's events, newest first; it is up to half a minute old.

    Pages are ordered by time and shift when new events arrive, so an event may come twice. The server reads all events
    for each page, so poll it rarely.
    """
    path = f"/api/v1/conversation/{segment(conversation_id)}/events/search"
    query, largest = _page_query(page_id, newest_first=True), transport.limits.list_body
    lacking = "This server keeps no copy of what is said."
    request = Request("GET", path, query, largest=largest, background=True, lacking=lacking)
    return (await transport.send(request)).read_as(EventPage, UNREADABLE)


def _page_query(page_id: str | None, *, newest_first: bool) -> Query:
    order = "TIMESTAMP_DESC" if newest_first else "TIMESTAMP"
    return ("limit", MOST), ("sort_order", order), *(() if page_id is None else (("page_id", page_id),))
