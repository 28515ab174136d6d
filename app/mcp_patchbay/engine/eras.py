"""Which protocol era worked with a server: remembered, so that later starts need no probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_patchbay.domain.ports import Memory
    from mcp_patchbay.domain.servers import ServerSpec
    from mcp_patchbay.engine.client import PatchbayClient

TOPIC = "era"
GUESS_HOLDS = 7 * 24 * 3600.0
"""Seconds for which a guess holds: a slow server of both eras can look like an old one, so it is asked again later."""


def mode_for(memory: Memory | None, spec: ServerSpec, now: float) -> str:
    """The mode to connect with: "legacy" when that is what worked with these settings, else "auto"."""
    known = memory.recall(TOPIC, spec.id) if memory is not None else None
    if not isinstance(known, dict) or known.get("target") != spec.target.summary():
        return "auto"
    if known.get("guessed") and now - float(known.get("at", 0)) > GUESS_HOLDS:
        return "auto"
    return "legacy" if known.get("era") == "legacy" else "auto"


def remember_era(memory: Memory | None, spec: ServerSpec, client: PatchbayClient, now: float) -> None:
    """Keep what worked. `target` is kept beside it: with another command or URL it proves nothing."""
    if memory is None or (client.mode == "legacy" and not client.restarted):
        return
    known = {"era": client.era, "guessed": client.era_guessed, "at": now, "target": spec.target.summary()}
    memory.remember(TOPIC, spec.id, known)


def forget_era(memory: Memory | None, spec: ServerSpec) -> None:
    """Ask anew at the next start: what was remembered did not work."""
    if memory is not None and memory.recall(TOPIC, spec.id) is not None:
        memory.remember(TOPIC, spec.id, None)
