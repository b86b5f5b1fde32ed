"""The records of the plain deck: read with httpx, taken in with pydantic; imported once its frame is drawn."""

import ssl
from collections.abc import AsyncIterator
from datetime import datetime

import httpx
from pydantic import BaseModel, ConfigDict, SecretStr


class Sandbox(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    status: str
    sandbox_spec_id: str = ""
    created_by_user_id: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    session_api_key: SecretStr | None = None


class Page(BaseModel):
    items: list[Sandbox]
    next_page_id: str | None = None


def client() -> httpx.AsyncClient:
    """A client for plain http: it needs no certificates, and loading them takes 27 ms."""
    transport = httpx.AsyncHTTPTransport(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    return httpx.AsyncClient(transport=transport, trust_env=False)


async def pages(client: httpx.AsyncClient, url: str) -> AsyncIterator[list[tuple[str, ...]]]:
    query = {"limit": "100"}
    while True:
        page = Page.model_validate_json((await client.get(f"{url}/api/v1/sandboxes/search", params=query)).content)
        yield [_row(sandbox) for sandbox in page.items]
        if page.next_page_id is None:
            return
        query["page_id"] = page.next_page_id


def _row(sandbox: Sandbox) -> tuple[str, ...]:
    return (sandbox.id, sandbox.status, sandbox.sandbox_spec_id, str(sandbox.created_at), str(sandbox.updated_at))
