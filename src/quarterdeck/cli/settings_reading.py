"""The settings of a server as the commands see them: its record, and the fields it has."""

from quarterdeck.client.client import Client
from quarterdeck.client.models.capabilities import Server
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.form_fields import fields_on, kind_in


async def read(client: Client) -> tuple[Server, Draft]:
    """What the server can do, and a draft of what it holds, without edits; raises ServiceError."""
    server = await client.describe()
    base = await client.settings.load()
    schema = await client.settings.schema() if server.schema else ()
    return server, Draft(base, fields=fields_on(server, schema, kind_in(base)))
