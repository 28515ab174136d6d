"""Where a run's servers, secrets and memory come from: the user's own files, or one file named on the command line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_patchbay.domain.errors import ConfigError
from mcp_patchbay.domain.messages import message
from mcp_patchbay.stores.config_text import environment_servers, read_config_file
from mcp_patchbay.stores.memory import StateFile
from mcp_patchbay.stores.paths import Paths
from mcp_patchbay.stores.secrets import LazySecrets
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.stores.tokens import KeyringTokens

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcp_patchbay.domain.ports import Secrets, Tokens
    from mcp_patchbay.domain.servers import ServerSpec


class RunMemory:
    """What is remembered for this run only."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], Any] = {}

    def recall(self, topic: str, key: str) -> Any:
        return self._facts.get((topic, key))

    def remember(self, topic: str, key: str, value: Any) -> None:
        self._facts[topic, key] = value

    async def close(self) -> None:
        """Nothing to write."""


@dataclass(frozen=True)
class Configuration:
    """The servers of one run and the ports that go with them."""

    specs: tuple[ServerSpec, ...]
    secrets: Secrets
    tokens: Tokens
    memory: StateFile | RunMemory

    async def close(self) -> None:
        """Write what is still to be written."""
        await self.memory.close()


def users_configuration(environ: Mapping[str, str] = os.environ) -> Configuration:
    """The user's own servers, and those of `MCP_SERVERS`, which shadow a file's of the same name. Blocking.

    Raises:
        ConfigFileError: the file cannot be read; it names line and column.
    """
    paths = Paths()
    extra = {spec.name: spec for spec in environment_servers(environ)}
    stored = [spec for spec in ServersFile(paths.servers_file).load() if spec.name not in extra]
    secrets = LazySecrets(paths)
    return Configuration((*stored, *extra.values()), secrets, KeyringTokens(secrets), StateFile(paths.state_file))


def given_configuration(file: Path) -> Configuration:
    """The servers of one file; nothing of the user's own is written. Blocking.

    Raises:
        ConfigError: the file is missing or cannot be read; it names line and column.
    """
    if not file.exists():
        raise ConfigError(message("error.config_missing.title"), message("error.config_missing", path=str(file)))
    secrets = LazySecrets(Paths())
    return Configuration(tuple(read_config_file(file)), secrets, KeyringTokens(secrets), RunMemory())
