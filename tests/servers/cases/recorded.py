"""A client of a case server, with all that passed through its pipes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp_patchbay.engine.client import PatchbayClient
from mcp_patchbay.engine.stdio.process import Hooks
from servers.cases import launch


class Recorded:
    """A client and what it and the server said."""

    def __init__(self, case: str, *args: str, env: dict[str, str] | None = None, **options: Any) -> None:
        self.noise: list[bytes] = []
        self.stderr: list[bytes] = []
        self.traffic: list[tuple[str, bytes]] = []
        self.outputs = 0
        hooks = Hooks(
            on_noise=self.noise.append,
            on_stderr=self.stderr.append,
            on_traffic=lambda direction, raw: self.traffic.append((direction, raw)),
            on_output=self._count_output,
        )
        options.setdefault("read_timeout", 20)
        self.client = PatchbayClient(launch(case, *args, **(env or {})), hooks=hooks, **options)

    def _count_output(self) -> None:
        self.outputs += 1

    @property
    def process(self) -> Any:
        """The dispatcher of the running process."""
        assert self.client.dispatcher is not None
        return self.client.dispatcher

    def sent(self) -> list[str]:
        """The methods of the requests and notifications that we sent."""
        return [message["method"] for message in self.messages("out") if "method" in message]

    def messages(self, direction: str) -> list[dict[str, Any]]:
        return [json.loads(raw.decode("utf-8", "replace")) for way, raw in self.traffic if way == direction]

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> str:
        """Call a tool, and return its first text."""
        result, _ = await self.client.call_tool_raw(name, arguments or {}, **options)
        text: str = result["content"][0]["text"]
        return text


@asynccontextmanager
async def connected(case: str, *args: str, **options: Any) -> AsyncIterator[Recorded]:
    """A connected client of that case."""
    recorded = Recorded(case, *args, **options)
    async with recorded.client:
        yield recorded
