"""Saving without a screen: what is said and kept when a store fails in one of its ways."""

from collections.abc import Awaitable, Callable, Sequence

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import Review
from quarterdeck.settings.save import Questions, Request, SaveResult, save

SERVER = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True)
LOST = ServiceError(ErrorKind.UNKNOWN_OUTCOME, "No answer came.", outcome=Outcome.UNKNOWN)
DOWN = ServiceError(ErrorKind.UNREACHABLE, "Cannot connect.", outcome=Outcome.NOT_SENT)


class FakeStore:
    """Keeps a record; `failure` is raised by a store, which before that applies it or not."""

    def __init__(self, record: Settings, *, failure: ServiceError | None = None, applies: bool = True) -> None:
        self.record = record
        self.failure = failure
        self.applies = applies
        self.down_after: ServiceError | None = None
        self.stores = 0

    hidden = False

    def losing(self, base: Settings | None, changes: SettingsChanges) -> tuple[str, ...]:
        return ()

    async def secret_names(self) -> frozenset[str] | None:
        return None

    async def load(self) -> Settings | None:
        if self.stores and self.down_after is not None:
            raise self.down_after
        return self.record

    async def store(self, base: Settings | None, changes: SettingsChanges) -> None:
        self.stores += 1
        if self.applies:
            told = {f"{key}_set": value is not None for key, value in changes.items() if key == "llm_api_key"}
            plain = {key: value for key, value in changes.items() if key != "llm_api_key"}
            self.record = self.record.model_copy(update=plain | told)
        if self.failure is not None:
            raise self.failure

    def preview(self, base: Settings | None, changes: SettingsChanges) -> PreparedRequest:
        return PreparedRequest("POST", "/api/settings", dict(changes))


async def _mine(conflicts: Sequence[Conflict]) -> Sequence[Side]:
    return [Side.MINE] * len(conflicts)


async def _yes(review: Review, request: Request | None, why: str) -> bool:
    return True


async def _nothing(draft: Draft) -> None:
    return None


async def saved(
    draft: Draft, store: FakeStore, prepare: Callable[[Draft], Awaitable[None]] = _nothing
) -> tuple[SaveResult, list[str]]:
    told: list[str] = []
    return await save(draft, store, SERVER, Questions(_mine, _yes, prepare), told.append), told


BASE = Settings(language="de", llm_api_key_set=False)
DRAFT = Draft(BASE).set("language", "fr").set("llm_api_key", SecretStr("new"))


async def test_an_unknown_outcome_is_found_out_by_reading() -> None:
    result, told = await saved(Draft(BASE).set("language", "fr"), FakeStore(BASE, failure=LOST))
    assert "Unknown whether it was stored; reading back…" in told
    assert (result.words, result.saved) == ("Saved · 1 of 1 verified", True)
    assert not result.draft.edited


async def test_a_secret_is_accepted_only_where_the_server_said_yes_to_the_request_that_stores_it() -> None:
    had = BASE.model_copy(update={"llm_api_key_set": True})
    edited = Draft(had).set("language", "fr").set("llm_api_key", SecretStr("new"))
    result, _ = await saved(edited, FakeStore(had))
    assert (result.words, result.saved) == ("Saved · 1 verified, 1 accepted", True)
    result, _ = await saved(edited, FakeStore(had, failure=LOST))
    assert result.words.startswith("Not known whether it is stored: API key. No answer came. The edit is kept")
    assert (result.saved, result.error) == (False, True)
    assert result.draft.changes == {"llm_api_key": SecretStr("new")}


async def test_a_cleared_secret_is_verified_by_reading() -> None:
    had = BASE.model_copy(update={"llm_api_key_set": True})
    result, _ = await saved(Draft(had).unset("llm_api_key"), FakeStore(had, failure=LOST))
    assert (result.words, result.saved) == ("Saved · 1 of 1 verified", True)


async def test_an_unknown_outcome_that_was_none_keeps_all_edits() -> None:
    result, _ = await saved(DRAFT, FakeStore(BASE, failure=LOST, applies=False))
    assert (result.words, result.saved, result.error) == ("It was not stored; your edits are kept.", False, True)
    assert result.draft.changes == DRAFT.changes


async def test_when_reading_back_fails_nothing_is_claimed() -> None:
    store = FakeStore(BASE, failure=LOST)
    store.down_after = DOWN
    result, _ = await saved(DRAFT, store)
    assert result.words.startswith("Unknown whether it was stored")
    assert (result.saved, result.draft.changes) == (False, DRAFT.changes)


async def test_a_refused_store_keeps_all_edits() -> None:
    result, _ = await saved(DRAFT, FakeStore(BASE, failure=DOWN, applies=False))
    assert result.words == "Not saved: Cannot connect."
    assert result.draft.changes == DRAFT.changes


async def test_nothing_is_sent_when_the_server_holds_it_already() -> None:
    store = FakeStore(BASE.model_copy(update={"language": "fr"}))
    result, _ = await saved(Draft(BASE).set("language", "fr"), store)
    assert (store.stores, result.saved, result.draft.edited) == (0, True, False)


async def test_what_was_meant_is_told_only_where_it_may_have_been_stored() -> None:
    stored, _ = await saved(DRAFT, FakeStore(BASE))
    assert stored.meant is not None
    assert stored.meant.changes == DRAFT.changes
    assert stored.found is not None
    lost, _ = await saved(DRAFT, FakeStore(BASE, failure=LOST))
    assert lost.meant is not None
    for never in (FakeStore(BASE, failure=LOST, applies=False), FakeStore(BASE, failure=DOWN, applies=False)):
        result, _ = await saved(DRAFT, never)
        assert result.meant is None


async def test_when_the_server_says_that_somebody_was_faster_the_save_begins_anew() -> None:
    store = FakeStore(BASE, failure=ServiceError(ErrorKind.CONFLICT, "It changed.", status=409), applies=False)
    reviews = 0

    async def somebody_was_faster(draft: Draft) -> None:
        nonlocal reviews
        reviews += 1
        if reviews == 2:
            store.failure, store.applies = None, True
        store.record = store.record.model_copy(update={"git_user_name": "Grace"})

    result, told = await saved(DRAFT, store, somebody_was_faster)
    assert (reviews, store.stores, result.saved) == (2, 2, True)
    assert told.count("Reading what is stored now…") == 4
    assert (store.record.language, store.record.git_user_name) == ("fr", "Grace")


async def test_a_server_that_always_says_so_is_not_asked_for_ever() -> None:
    store = FakeStore(BASE, failure=ServiceError(ErrorKind.CONFLICT, "It changed.", status=409), applies=False)
    result, _ = await saved(DRAFT, store)
    assert (store.stores, result.saved) == (3, False)
    assert result.draft.changes == DRAFT.changes


async def test_what_cannot_be_prepared_is_not_sent() -> None:
    async def no_disk(draft: Draft) -> None:
        raise ServiceError(ErrorKind.LOCAL, "The disk is full.", outcome=Outcome.NOT_APPLIED)

    store = FakeStore(BASE)
    result, _ = await saved(DRAFT, store, no_disk)
    assert (store.stores, result.words, result.meant) == (0, "Not saved: The disk is full.", None)
    assert result.draft.changes == DRAFT.changes


async def test_what_concerns_only_this_machine_is_not_sent() -> None:
    store = FakeStore(BASE)
    disabled = Draft(BASE).with_disabled([StdioServer(name="old", command="uvx")])
    prepared: list[Draft] = []

    async def note(draft: Draft) -> None:
        prepared.append(draft)

    result, _ = await saved(disabled.remove_server(0), store, note)
    assert (store.stores, result.saved, result.draft.edited) == (0, True, False)
    assert [draft.to_keep_here for draft in prepared] == [()]
