"""Routes that stand before those of the local service."""

from collections.abc import Sequence

from fastapi import APIRouter, Depends
from starlette.types import Receive, Scope, Send

from quarterdeck.local.service import LocalService, guard, new_app


class Before:
    """Answers what begins with one of these paths by these routers, which need the key, and all else as the service."""

    def __init__(self, service: LocalService, store: str, paths: Sequence[str], routers: Sequence[APIRouter]) -> None:
        self._service = service
        self._paths = ("/server_info", *paths)
        self.app = new_app(service.store)
        for router in routers:
            self.app.include_router(router, dependencies=[Depends(guard(service.key))])

        @self.app.get("/server_info")
        async def server_info() -> dict[str, str]:
            return {"service": "quarterdeck-local", "settings_store": store}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_own = scope["path"].startswith(self._paths)
        await (self.app if is_own else self._service.app)(scope, receive, send)
