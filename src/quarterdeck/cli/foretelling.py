"""Which running sandboxes a start or resume is likely to cost, said beforehand (contract T30)."""

from quarterdeck.cli.output import note
from quarterdeck.cli.sandbox_rows import read_all, utc_now
from quarterdeck.client.client import Client
from quarterdeck.fleet.displacement import Cap, forecast, guessed
from quarterdeck.fleet.sandbox_state import Action


async def tell_displacement(client: Client, count: int) -> None:
    """Read all sandboxes, and say which ones a server of this kind would pause for `count` more; often none."""
    rows = (await read_all(client, conversations=False)).rows
    cap = guessed(Cap(), (row.id for row in rows))
    if words := forecast(rows, utc_now(), cap.about, Action.START, count=count).words:
        note(words)
