"""Which conversations live in which sandbox."""

from datetime import timedelta

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.sandboxes import Residents

from .fakes import NOON


def test_who_lives_where_is_kept_as_conversations_come_move_and_go() -> None:
    residents = Residents()
    records = {
        "c1": Conversation(id="c1", sandbox_id="a", created_at=NOON),
        "c2": Conversation(id="c2", sandbox_id="a", created_at=NOON + timedelta(minutes=1)),
    }
    assert residents.update(records, records) == {"a"}
    assert [record.id for record in residents.of("a")] == ["c2", "c1"]
    records["c2"] = Conversation(id="c2", sandbox_id="b")
    assert residents.update(records, ["c2"]) == {"a", "b"}
    assert [record.id for record in residents.of("a")] == ["c1"]
    del records["c1"]
    assert residents.update(records, ["c1"]) == {"a"}
    assert residents.of("a") == ()
