"""Finding and preparing the commands of stdio servers."""

from mcp_patchbay.engine.spawn.environment import child_environment
from mcp_patchbay.engine.spawn.resolve import Resolved, resolve
from mcp_patchbay.engine.spawn.runners import package_runner

__all__ = ["Resolved", "child_environment", "package_runner", "resolve"]
