"""The server of the nested generation as a script, over a record in memory."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from quarterdeck.client.nested import NESTED_SETTINGS
from tests.client.fakes import NO_ROUTE, Answer, Asked
from tests.servers.nested.record import NestedRecord, load_response, patched, words_of


class NestedServer:
    """Keeps settings as release 1.11 does; `record` is what it holds, secrets included, `fields` what it describes."""

    def __init__(self, agent: dict[str, Any] | None = None, fields: Sequence[dict[str, Any]] = ()) -> None:
        self.fields = fields
        self.record = NestedRecord.model_validate({"agent_settings": agent} if agent else {}).stored()

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == f"{NESTED_SETTINGS}/agent-schema" and self.fields:
            return Answer({"sections": [{"key": "x", "label": "X", "fields": self.fields}]})
        if asked.path != NESTED_SETTINGS:
            return NO_ROUTE
        if asked.method == "GET":
            return Answer(load_response(NestedRecord.model_validate(self.record), None))
        try:
            self.record = patched(self.record, asked.body)
        except ValidationError as error:
            return Answer({"error": words_of(error)}, 400)
        return Answer({"message": "Settings stored"})

    @property
    def agent(self) -> Any:
        return self.record["agent_settings"]
