"""LLM profiles of servers that have them (SERVERS.md: profiles)."""

import re

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.settings import Profiles
from quarterdeck.client.redact import invalid
from quarterdeck.client.refusals import NEWER
from quarterdeck.client.request import Request, Response, segment
from quarterdeck.client.transport import Transport

PROFILES = "/api/v1/settings/profiles"
NO_PROFILES = "This server keeps no LLM profiles."
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


class ProfilesResource:
    """Lists, saves, activates, renames and deletes profiles; every failure is a ServiceError.

    NOT_OFFERED if the server has none, CONFLICT for a name that exists or beyond the server's limit of profiles.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> Profiles:
        """Return all profiles and which one is active."""
        response = await self._send(Request("GET", PROFILES))
        return response.read_as(Profiles, "The list of profiles cannot be read.")

    async def save(self, name: str) -> None:
        """Save the stored LLM settings, with the key, under a new name: the server would overwrite an existing one."""
        path = f"{PROFILES}/{_checked(name)}"
        if any(profile.name == name for profile in (await self.list()).items):
            words = f"A profile with the name {name} is there already."
            raise ServiceError(ErrorKind.CONFLICT, words, "Take another name.", outcome=Outcome.NOT_SENT)
        await self._send(Request("POST", path, body={}))

    async def activate(self, name: str) -> None:
        """Copy a profile over the current LLM settings; load the settings again afterwards."""
        await self._send(Request("POST", f"{PROFILES}/{segment(name)}/activate", item=True))

    async def rename(self, name: str, new_name: str) -> None:
        """Rename a profile."""
        _checked(new_name)
        path = f"{PROFILES}/{segment(name)}/rename"
        await self._send(Request("POST", path, body={"new_name": new_name}, item=True))

    async def delete(self, name: str) -> None:
        """Delete a profile, even if it does not exist; if it was active, the server activates the first one left."""
        await self._send(Request("DELETE", f"{PROFILES}/{segment(name)}", item=True))

    async def _send(self, request: Request) -> Response:
        if not self._transport.server.nested:
            raise ServiceError(ErrorKind.NOT_OFFERED, NO_PROFILES, NEWER, outcome=Outcome.NOT_SENT)
        return await self._transport.send(request._replace(lacking=NO_PROFILES))


def _checked(name: str) -> str:
    if NAME.fullmatch(name) is None:
        raise invalid(("name",), "a name has 1 to 64 letters, digits, dots, dashes and underscores.")
    return segment(name)
