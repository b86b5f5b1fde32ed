"""The agent server of one conversation: its events, how it is, and what can be asked of the agent.

It lives in the sandbox. Its key is the sandbox's own and goes to its own origin only (SERVERS.md: agent servers).
"""

from typing import Any, Self, TypeVar

from pydantic import SecretStr, ValidationError

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.base import Wire
from quarterdeck.client.models.event import AgentState, EventPage, Policy, Text
from quarterdeck.client.network import is_loopback, shown_host
from quarterdeck.client.request import Query, Request, Response, segment
from quarterdeck.client.transport import Transport

R = TypeVar("R", bound=Wire)
API = "/api/conversations/"
SAFE_SOCKETS = (1, 16)
"""The agent servers before that stop answering anybody when a socket is opened while an agent works."""
MOST = "100"
"""Events of one page; a server closes the connection when asked for more."""
NEVER = Policy(kind="NeverConfirm")
ALWAYS = Policy(kind="AlwaysConfirm")
RISKY = Policy(kind="ConfirmRisky", threshold="MEDIUM", confirm_unknown=True)


class _About(Wire):
    version: Text = ""


class AgentServer:
    """One conversation on its agent server; every failure is a ServiceError.

    Reading answers at once even while a tool runs. What is asked of the agent may be held until the tool ends: an
    answer that does not come says nothing about whether it happens.
    """

    def __init__(self, transport: Transport, conversation_id: str) -> None:
        self.transport = transport
        self.conversation_id = conversation_id
        self._path = f"{API}{segment(conversation_id)}"

    @classmethod
    def at(cls, transport: Transport, conversation_url: SecretStr, key: SecretStr) -> Self:
        """Take a record's address of a conversation apart.

        Raises ServiceError: LOCAL for an address that cannot be asked, NOT_OFFERED for one of another machine's own.
        """
        base, found, conversation_id = conversation_url.get_secret_value().partition(API)
        if not found:
            words = "The address of this conversation's agent server cannot be read."
            raise ServiceError(ErrorKind.LOCAL, words, outcome=Outcome.NOT_SENT)
        if is_loopback(base) and not is_loopback(transport.url):
            words = f"Its agent server is at {shown_host(base)} of another machine, which cannot be reached from here."
            raise ServiceError(ErrorKind.NOT_OFFERED, words, outcome=Outcome.NOT_SENT)
        return cls(transport.beside(base, key), conversation_id.partition("?")[0].strip("/"))

    # What is read

    async def alive(self) -> bool:
        """Whether anything answers there; no key is sent."""
        return await self.transport.alive(self.transport.url)

    async def safe_socket(self) -> bool:
        """Whether a socket may be opened at any time; of a server that does not say what it is, nothing is known."""
        try:
            about = _read_as(_About, await self._read("/server_info"))
        except ServiceError:
            return False
        return tuple(int(each) for each in about.version.split(".") if each.isdecimal()) >= SAFE_SOCKETS

    async def state(self) -> AgentState:
        """How the conversation is now."""
        return _read_as(AgentState, await self._read(self._path, item=True))

    async def events(self, page_id: str | None = None, *, newest_first: bool = False) -> EventPage:
        """Read a page of the log, beginning with the event of that id; of an unknown id the first page comes."""
        query = _page_query(page_id, newest_first=newest_first)
        return _read_as(EventPage, await self._read(f"{self._path}/events/search", query))

    async def _read(self, path: str, query: Query = (), *, item: bool = False) -> Response:
        seconds = self.transport.limits.quick
        return await self.transport.send(Request("GET", path, query, item=item, seconds=seconds, background=True))

    # What is asked of the agent

    async def send(self, text: str) -> None:
        """Put a message of a person into the log and run nothing: `run` is a request of its own.

        While a tool runs the answer is held until it ends.
        """
        content = [{"type": "text", "text": text}]
        await self._ask("/events", {"role": "user", "content": content, "run": False})

    async def run(self) -> None:
        """Let the agent go on; what it waits to be accepted is done then.

        Raises ServiceError(CONFLICT) for one that runs already.
        """
        await self._ask("/run")

    async def pause(self) -> None:
        """Stop the agent after the step it is at; the answer may be held until then."""
        await self._ask("/pause")

    async def interrupt(self) -> None:
        """Stop the agent in the middle of its step; raises ServiceError(NOT_OFFERED) where that cannot be."""
        lacking = "This agent server only stops after a step."
        await self._ask("/interrupt", seconds=self.transport.limits.quick, lacking=lacking)

    async def answer(self, *, accept: bool, reason: str = "") -> None:
        """Accept or refuse what the agent waits with, whatever that is by now: the request names no action."""
        body = {"accept": accept, **({"reason": reason} if reason else {})}
        await self._ask("/events/respond_to_confirmation", body)

    async def set_policy(self, policy: Policy) -> None:
        """Say when the agent asks from now on; it is forgotten when the agent server starts anew."""
        await self._ask("/confirmation_policy", {"policy": policy.model_dump(exclude_defaults=True)})

    async def _ask(self, what: str, body: Any = None, *, seconds: float | None = None, lacking: str = "") -> None:
        path, seconds, item = f"{self._path}{what}", seconds or self.transport.limits.slow, what == "/events"
        await self.transport.send(Request("POST", path, body=body, item=item, seconds=seconds, lacking=lacking))


async def copied_events(transport: Transport, conversation_id: str, page_id: str | None = None) -> EventPage:
    """Read a page of the app server's own copy of a conversation's events, newest first, up to half a minute late.

    Pages go by time and shift when something new arrives, so an event may come twice. A server reads all events for
    each page, so it is not asked often.
    """
    path = f"/api/v1/conversation/{segment(conversation_id)}/events/search"
    query, largest = _page_query(page_id, newest_first=True), transport.limits.list_body
    lacking = "This server keeps no copy of what is said."
    request = Request("GET", path, query, largest=largest, background=True, lacking=lacking)
    return _read_as(EventPage, await transport.send(request))


def _page_query(page_id: str | None, *, newest_first: bool) -> Query:
    order = "TIMESTAMP_DESC" if newest_first else "TIMESTAMP"
    return ("limit", MOST), ("sort_order", order), *(() if page_id is None else (("page_id", page_id),))


def _read_as(kind: type[R], response: Response) -> R:
    try:
        return kind.model_validate(response.json_or_none())
    except ValidationError:
        raise response.wrong_shape("The agent server's answer cannot be read.") from None
