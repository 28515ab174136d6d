"""What is known of an open session."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED

from mcp_patchbay.engine.client import PatchbayClient, ping
from mcp_patchbay.engine.http import HttpTransport, session_lost

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from mcp_patchbay.engine.opening import Opening
    from mcp_patchbay.engine.recorder import Recorder
    from mcp_patchbay.engine.session import Listing, Raw


class Opened:
    """An open session: its client, what the server said of itself and what it offers."""

    def __init__(
        self, client: PatchbayClient, transport: HttpTransport | None, recorder: Recorder, opening: Opening
    ) -> None:
        info = client.server_info
        self.client = client
        self.opening = opening
        self.protocol = client.protocol_version
        self.server_name = (info.title or info.name) if info else ""
        self.server_version = info.version if info else ""
        self.instructions = client.instructions or ""
        offered = client.server_capabilities.model_dump(exclude_none=True)
        self.capabilities = tuple(sorted(offered))
        self.tools: list[Raw] = []
        self.prompts: list[Raw] = []
        self.resources: list[Raw] = []
        self.resource_templates: list[Raw] = []
        self._transport = transport
        self._recorder = recorder
        self._requests = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def list_all(self) -> None:
        """List everything anew, all pages. What is odd about a list is noted in the log and costs that part only."""
        self.tools = self._noted(await self.client.list_all_tools_raw())
        self.prompts = self._noted(await self.client.list_all_prompts_raw())
        self.resources = self._noted(await self.client.list_all_resources_raw())
        self.resource_templates = self._noted(await self.client.list_all_resource_templates_raw())

    async def ping(self, limit: float) -> None:
        """Ask for a sign of life, within `limit` seconds; a second time before the server is taken for deaf."""
        try:
            await ping(self.client, limit)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:  # there is nobody left to be asked a second time
                raise
            await ping(self.client, limit)

    def background(self) -> list[Coroutine[Any, Any, None]]:
        """What must run beside the session: the subscription to list changes."""
        return [self.client.watch_lists()]

    @contextmanager
    def request(self) -> Iterator[None]:
        """Around each request of a caller, so that `quiet` knows of it."""
        self._requests += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._requests -= 1
            if not self._requests:
                self._quiet.set()

    async def quiet(self, within: float) -> None:
        """Wait until no request is under way, at most `within` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._quiet.wait()

    def session_lost(self, raised: BaseException) -> bool:
        """Whether the server forgot our session and so did not carry out the request."""
        return self._transport is not None and session_lost(raised)

    def _noted(self, listing: Listing) -> list[Raw]:
        entries, notes = listing
        for note in notes:
            self._recorder.note("warning", note)
        return entries
