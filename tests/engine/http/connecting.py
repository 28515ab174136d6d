"""A client on our transport, as the engine uses it, and what it heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp import Client

from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.engine.http import HttpTransport, http_transport

LIMIT = 20.0


@dataclass
class Heard:
    """What a transport told."""

    traffic: list[tuple[str, bytes]] = field(default_factory=list)
    losses: list[PatchbayError] = field(default_factory=list)
    lost: asyncio.Event = field(default_factory=asyncio.Event)

    def on_traffic(self, direction: str, raw: bytes) -> None:
        self.traffic.append((direction, raw))

    def on_eof(self, error: PatchbayError) -> None:
        self.losses.append(error)
        self.lost.set()

    async def loss(self) -> PatchbayError:
        """The loss that is told, within bounds."""
        async with asyncio.timeout(LIMIT):
            await self.lost.wait()
        return self.losses[0]


def transport(heard: Heard, url: str, kind: str = "streamable-http", **options: Any) -> HttpTransport:
    return http_transport(url, kind, on_traffic=heard.on_traffic, on_eof=heard.on_eof, **options)


@asynccontextmanager
async def connected(made: HttpTransport, mode: str = "auto") -> AsyncIterator[Client]:
    async with Client(made, mode=mode) as client:
        yield client


async def failure(made: HttpTransport, mode: str = "legacy") -> PatchbayError:
    """What connecting fails with, in words."""
    try:
        async with asyncio.timeout(LIMIT), Client(made, mode=mode):
            pass
    except BaseException as raised:  # groups hold cancellations of their own
        return made.describe(raised)
    raise AssertionError("it connected")
