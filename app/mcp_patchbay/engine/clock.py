"""Time as the engine sees it, so that tests can let hours pass at once."""

from __future__ import annotations

import asyncio
import random
import time


class Clock:
    """The real time. All durations are seconds."""

    def time(self) -> float:
        """Unix time."""
        return time.time()

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for the event, at most that long; say whether it came."""
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return event.is_set()
        return True

    def jitter(self, seconds: float) -> float:
        """A pause somewhere between half of `seconds` and all of it, so that servers do not come back in step."""
        return seconds * random.uniform(0.5, 1.0)
