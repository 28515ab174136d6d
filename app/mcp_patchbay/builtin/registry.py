"""The in-process servers by name. Cheap to import: mcp is loaded when the first server is made."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mcp_patchbay.domain.errors import ConfigError
from mcp_patchbay.domain.messages import message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcp.server import MCPServer


def _filesystem(options: Mapping[str, Any]) -> MCPServer[Any]:
    from mcp_patchbay.builtin.filesystem.server import create

    return create(options)


FACTORIES: dict[str, Callable[[Mapping[str, Any]], MCPServer[Any]]] = {"filesystem": _filesystem}


class BuiltinServers:
    """The `Builtins` port."""

    def names(self) -> tuple[str, ...]:
        """The names that `create` knows."""
        return tuple(FACTORIES)

    def create(self, name: str, options: Mapping[str, Any]) -> MCPServer[Any]:
        """A new server of that name.

        Raises:
            ConfigError: an unknown name, or options that cannot be used.
        """
        factory = FACTORIES.get(name)
        if factory is None:
            raise ConfigError(
                message("error.builtin.title"),
                message("error.builtin", builtin=name),
                message("error.builtin.hint", known=", ".join(FACTORIES)),
                field="builtin",
            )
        with _root_logger_kept():
            return factory(options)


@contextmanager
def _root_logger_kept() -> Iterator[None]:
    """The SDK sets up the root logger for a program that is only a server; in here that is not its business."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
        root.setLevel(level)
