"""What is in the table before the user has added anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_patchbay.domain.servers import BuiltinServer, ServerSpec

if TYPE_CHECKING:
    from mcp_patchbay.stores.paths import Paths


def first_start_spec(paths: Paths) -> ServerSpec:
    """The embedded filesystem server on its own sample folder, for when there is no servers.json yet.

    It needs neither Node nor network. The folder itself is filled by the built-in server.
    """
    options = {"allowed_directories": [str(paths.sample_folder)]}
    target = BuiltinServer("filesystem", options)
    return ServerSpec(name="filesystem", target=target, description="A sample folder to try the tools on")
