"""Making the engine have the servers that the user has."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp_patchbay.engine import tasks

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Iterable

    from mcp_patchbay.domain.servers import ServerSpec
    from mcp_patchbay.engine.hub import ServerHub


async def follow(hub: ServerHub, servers: Iterable[ServerSpec], transient: Collection[str]) -> None:
    """Add, change, rename and remove the hub's servers until they are `servers`.

    A server is the same as long as its id is. Returns when what ended has ended; what starts goes on by itself.
    `transient` names the servers of this run only.
    """
    wanted = {spec.id: spec for spec in servers}
    names = {spec.name for spec in wanted.values()}
    leaving = [known for known in hub.servers() if known.id not in wanted and known.name not in names]
    renamed = [known for known in hub.servers() if known.id in wanted and known.name != wanted[known.id].name]
    blocked = [known for known in renamed if hub.get_server(wanted[known.id].name) is not None]  # they swap names
    await together(hub.delete_server(known.name) for known in [*leaving, *blocked])
    for known in renamed:
        if known not in blocked:
            await hub.rename_server(known.name, wanted[known.id].name)
    await together(_follow_one(hub, spec, spec.name in transient) for spec in wanted.values())


async def _follow_one(hub: ServerHub, spec: ServerSpec, transient: bool) -> None:
    known = hub.get_server(spec.name)
    if known is None:
        await hub.add_server(spec, transient=transient, wait=False)
    elif known != spec:
        await hub.update_server(spec, wait=False)


async def together(actions: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run actions side by side to their end, then raise the first failure."""
    running = [tasks.start(action, name="workspace action", on_error=lambda _error: None) for action in actions]
    outcomes = await asyncio.gather(*running, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
