"""Servers of either generation as scripts, over a record in memory."""

from collections.abc import Sequence
from typing import Any

import httpx

from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested import NESTED_SETTINGS
from tests.client.fakes import NO_ROUTE, Answer, Asked
from tests.servers.nested.record import NestedRecord, load_response, patched

STORED = Answer({"message": "Settings stored"})
LOST, DOWN = httpx.ReadError("gone"), httpx.ConnectError("down")


class FlatServer:
    """Stores get `answers` in turn, the last one for ever; what is refused or not reached changes nothing."""

    def __init__(self, *answers: Answer | Exception, **record: Any) -> None:
        self.record = Settings().model_dump(mode="json") | {"git_user_name": "Ada", "llm_model": "a/b"} | record
        self.answers = [*answers] or [STORED]
        self.ignores: set[str] = set()
        self.meanwhile: dict[str, object] = {}  # what somebody else stores just before the next answer
        self.refusal: Answer | Exception | None = None  # what a reading is answered with instead of the record
        self.stores = 0

    def __call__(self, asked: Asked) -> Answer | Exception:
        if asked.path != "/api/settings":
            return NO_ROUTE
        if asked.method == "GET":
            return self.refusal or Answer(self.record)
        self.stores += 1
        self.record |= self.meanwhile
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is LOST or (isinstance(answer, Answer) and answer.status < 300):
            sent = {name: value for name, value in asked.body.items() if name not in self.ignores}
            if "llm_api_key" in sent:
                sent["llm_api_key_set"] = sent.pop("llm_api_key") != ""
            self.record |= sent
        return answer


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
        self.record = patched(self.record, asked.body)
        return Answer({"message": "Settings stored"})

    @property
    def agent(self) -> Any:
        return self.record["agent_settings"]
