"""``/api/v1/config``: suggestions as release 1.11 gives them, in pages (contract g.6)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter

from quarterdeck.local.options import MODELS, providers
from quarterdeck.local.paging import Limit

Page = dict[str, Any]
_LIMIT = 50


def nested_options_router() -> APIRouter:
    """What can be chosen in settings."""
    router = APIRouter(prefix="/api/v1/config", tags=["Options"])

    @router.get("/models/search")
    async def models(
        query: str = "",
        verified__eq: bool | None = None,
        provider__eq: str | None = None,
        page_id: str = "",
        limit: Limit = _LIMIT,
    ) -> Page:
        """A page of models; its name together with its provider names a model."""
        found = [
            {"provider": model.provider, "name": model.name, "verified": model.verified}
            | {"hidden": False, "canonical": None}
            for model in MODELS
            if query.lower() in f"{model.provider}/{model.name}".lower()
            and verified__eq in {None, model.verified}
            and provider__eq in {None, model.provider}
        ]
        return _page(found, page_id, limit)

    @router.get("/providers/search")
    async def search_providers(
        query: str = "", verified__eq: bool | None = None, page_id: str = "", limit: Limit = _LIMIT
    ) -> Page:
        """A page of providers of models."""
        found = [
            {"name": name, "verified": verified}
            for name, verified in providers().items()
            if query.lower() in name.lower() and verified__eq in {None, verified}
        ]
        return _page(found, page_id, limit)

    return router


def _page(found: Sequence[Page], page_id: str, limit: int) -> Page:
    end = _offset(page_id) + limit
    return {"items": found[end - limit : end], "next_page_id": _page_id(end) if len(found) > end else None}


def _page_id(offset: int) -> str:
    """An id that says nothing to a client, which must not make one up (contract T20)."""
    return urlsafe_b64encode(str(offset).encode()).decode().rstrip("=")


def _offset(page_id: str) -> int:
    """Where a page begins; one that nobody gave is the first, as on real servers."""
    try:
        return max(0, int(urlsafe_b64decode(page_id + "=" * (-len(page_id) % 4))))
    except ValueError:
        return 0
