"""What there is to choose from, in both generations."""

from tests.local.conftest import Caller, Json, Opener

PATH = "/api/v1/config"


async def all_pages(caller: Caller, path: str, **query: Json) -> list[Json]:
    found: list[Json] = []
    page: Json = {"next_page_id": ""}
    while page["next_page_id"] is not None:
        page = await caller.get(path, limit=2, page_id=page["next_page_id"], **query)
        assert len(page["items"]) <= 2
        found += page["items"]
    return found


async def test_models_are_found_by_text_provider_and_verification(open_service: Opener) -> None:
    nested = await open_service(store="nested")
    path = f"{PATH}/models/search"
    assert {model["provider"] for model in await all_pages(nested, path, query="CLAUDE")} == {"anthropic"}
    assert {model["provider"] for model in await all_pages(nested, path, provider__eq="openai")} == {"openai"}
    assert {model["verified"] for model in await all_pages(nested, path, verified__eq=False)} == {False}


async def test_each_provider_of_a_model_is_offered_once(open_service: Opener) -> None:
    nested = await open_service(store="nested")
    offered = [provider["name"] for provider in await all_pages(nested, f"{PATH}/providers/search")]
    models = await all_pages(nested, f"{PATH}/models/search")
    assert len(offered) == len(set(offered))
    assert set(offered) == {model["provider"] for model in models}
    assert await all_pages(nested, f"{PATH}/providers/search", query="anthr") == [
        {"name": "anthropic", "verified": True}
    ]


async def test_a_page_that_nobody_gave_is_the_first(open_service: Opener) -> None:
    nested = await open_service(store="nested")
    first = await nested.get(f"{PATH}/models/search", limit=2)
    for made_up in ("zzz", "-5", "ключ", "LTU"):
        assert await nested.get(f"{PATH}/models/search", limit=2, page_id=made_up) == first
    assert (await nested.http.get(f"{PATH}/models/search", params={"limit": 0})).status_code == 422


async def test_the_lists_of_the_flat_generation_are_bare(caller: Caller) -> None:
    for name in ("models", "agents", "security-analyzers"):
        offered = await caller.get(f"/api/options/{name}")
        assert offered
        assert all(isinstance(one, str) for one in offered)
    assert (await caller.get("/api/options/config"))["APP_MODE"] == "oss"
