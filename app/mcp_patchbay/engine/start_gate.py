"""Few servers at once in their first, CPU-heavy second: the first is ready ten times sooner, the last not later."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PLACES = 4
LONGEST_HOLD = 1.5
"""Seconds after which a slow starter gives its place away."""


class StartGate:
    """`async with gate.place():` around a start; the place is given back at the end, or after `LONGEST_HOLD`."""

    def __init__(self, places: int = PLACES) -> None:
        self._places = asyncio.Semaphore(places)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        await self._places.acquire()
        held = True

        def give_back() -> None:
            nonlocal held
            if held:
                held = False
                self._places.release()

        timer = asyncio.get_running_loop().call_later(LONGEST_HOLD, give_back)
        try:
            yield
        finally:
            timer.cancel()
            give_back()
