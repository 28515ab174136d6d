"""What the engine needs from its siblings, as Protocols. `main` and `cli` hand the real ones in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Secrets(Protocol):
    """Where secrets come from. Reading may block for long behind a keyring's prompt, so it is awaited."""

    async def get(self, server_id: str, field: str) -> str | None:
        """The secret of a server's field, or None when there is none.

        Raises:
            SecretError: the keyring is locked, missing or silent.
        """
        ...


class Builtins(Protocol):
    """The in-process servers there are."""

    def names(self) -> tuple[str, ...]:
        """The names that `create` knows."""
        ...

    def create(self, name: str, options: Mapping[str, Any]) -> Any:
        """A new `mcp.server.MCPServer` (or low-level `Server`) of that name.

        Raises:
            ConfigError: an unknown name or options that cannot be used.
        """
        ...


class Memory(Protocol):
    """Small facts that survive a restart, such as the protocol era that worked. Never secrets."""

    def recall(self, topic: str, key: str) -> Any:
        """What was remembered, or None."""
        ...

    def remember(self, topic: str, key: str, value: Any) -> None:
        """Keep a JSON value; None forgets it. Written soon, off the loop."""
        ...


class Tokens(Protocol):
    """OAuth tokens and client registrations, kept in the keyring."""

    async def load(self, server_id: str, kind: str) -> str | None:
        """The stored JSON text of that kind ("tokens" or "client"), or None."""
        ...

    async def save(self, server_id: str, kind: str, value: str | None) -> None:
        """Store it; None removes it."""
        ...


class Interaction(Protocol):
    """Someone who answers a server's questions: elicitation, sampling, roots. Parameters and answers are MCP's JSON."""

    async def elicit(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]: ...

    async def sample(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]: ...

    async def roots(self, server: str) -> Mapping[str, Any]: ...
