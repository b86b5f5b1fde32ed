"""Reading some sandboxes, whether or not their server has a way to ask for some."""

from collections.abc import Sequence

from quarterdeck.client.client import Client
from quarterdeck.client.models.sandbox import Sandbox


async def read_some(client: Client, ids: Sequence[str]) -> dict[str, Sandbox | None]:
    """The sandboxes of these ids, None for one the server does not know; reads the list where no batch can be read.

    It takes its turn among what is asked for meanwhile, so that what was asked for first comes to its end soon.
    """
    answer = await client.sandboxes.read(ids)
    if answer is not None:
        return dict(zip(ids, answer, strict=True))
    found: dict[str, Sandbox | None] = dict.fromkeys(ids)
    async for page in client.sandboxes.pages():
        found.update((sandbox.id, sandbox) for sandbox in page.items if sandbox.id in found)
    return found


async def read_one(client: Client, sandbox_id: str) -> Sandbox | None:
    """One sandbox, or None when the server has none of this id."""
    return (await read_some(client, (sandbox_id,)))[sandbox_id]
