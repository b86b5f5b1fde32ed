"""The settings of a server as the commands see them: its record, and the fields it has."""

from quarterdeck.draft.draft import Draft
from quarterdeck.draft.fields.form_fields import fields_on, kind_in
from quarterdeck.service.client import ServiceClient
from quarterdeck.service.models.capabilities import Server


async def read(client: ServiceClient) -> tuple[Server, Draft]:
    """What the server can do, and a draft of what it holds, without edits; raises ServiceError."""
    server = await client.describe()
    base = await client.settings.load()
    schema = await client.settings.schema() if server.schema else ()
    return server, Draft(base, fields=fields_on(server, schema, kind_in(base)))
