"""A server's questions (elicitation, sampling, roots), handed to whoever answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_patchbay.domain.ports import Interaction


def interaction_callbacks(interaction: Interaction | None, server: Callable[[], str]) -> dict[str, Any]:
    """The callbacks for `PatchbayClient`. Without an interaction there are none, so that nothing is declared.

    Args:
        interaction: who answers.
        server: the asking server's name now; servers are renamed.
    """
    if interaction is None:
        return {}

    async def elicit(_context: Any, params: Any) -> types.ElicitResult:
        answer = await interaction.elicit(server(), _plain(params))
        return types.ElicitResult.model_validate(answer)

    async def sample(_context: Any, params: Any) -> types.CreateMessageResult:
        answer = await interaction.sample(server(), _plain(params))
        return types.CreateMessageResult.model_validate(answer)

    async def roots(_context: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate(await interaction.roots(server()))

    return {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}


def _plain(params: Any) -> dict[str, Any]:
    plain: dict[str, Any] = params.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain
