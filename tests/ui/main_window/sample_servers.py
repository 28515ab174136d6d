"""Snapshots as they occur in life, for the pictures and for tests of what the window says about them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from mcp_patchbay.domain.catalog import PromptInfo, ResourceInfo, ToolInfo, prompt_infos, tool_infos
from mcp_patchbay.domain.errors import AuthError, ConnectionLostError
from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.messages import message, plain
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState, Snapshot, Step

FILTERS = Patterns(allow=("*_file*", "*director*"), block=("write_*", "{edit,move}_*"))
TOOLS = {
    "read_file": "Read a whole file as text",
    "write_file": "Create or overwrite a file",
    "edit_file": "Replace exact text inside a file",
    "read_multiple_files": "Read several files in one call",
    "list_directory": "List names and kinds in a folder",
    "move_file": "Move or rename a file or folder",
    "directory_tree": "Show a folder as a nested tree",
    "search_files": "Find files by name pattern",
    "get_file_info": "Size, dates and permissions",
    "create_directory": "Make a folder and its parents",
    "list_allowed_directories": "Which folders may be used",
}


def _command(name: str, *command: str, cwd: str | None = None, **fields: Any) -> ServerSpec:
    return ServerSpec(name, StdioServer(command[0], command[1:], cwd=cwd), **fields)


def _failed_steps() -> tuple[Step, ...]:
    return (
        Step("done", message("step.command"), "~/.local/bin/uvx"),
        Step("done", message("step.process"), "PID 48213, ran 1.2 s"),
        Step("failed", message("step.handshake"), "exit code 1, the server's last words are in the log"),
        Step("open", message("step.lists"), "not reached"),
    )


def sample_servers(now: float | None = None) -> list[Snapshot]:
    """One server in each state."""
    now = time.time() if now is None else now
    reason = "The database refused the password for “app”, so the server stopped."
    refused = ConnectionLostError(plain("The server stopped"), plain(reason), message("error.exited.hint"))
    unauthorized = AuthError(plain("Sign-in needed"), plain("mcp.sentry.dev answered 401 Unauthorized"), status=401)
    lost = ConnectionLostError(plain("Lost"), plain("Connection closed"))
    files = BuiltinServer("filesystem", {"allowed_directories": ["/home/mira/Projects"]})
    ready, steps = ServerState.READY, (Step("done", message("step.handshake"), "protocol 2025-11-25"),)
    return [
        Snapshot(
            _command("postgres", "uvx", "postgres-mcp", "--access-mode=restricted", cwd="~/Projects/shop"),
            ServerState.FAILED,
            now - 6 * 60,
            error=refused,
            attempt=8,
            attempts=8,
            steps=_failed_steps(),
            protocol="2025-06-18",
            capabilities=("tools", "resources"),
            tools_visible=4,
            tools_total=9,
            calls=12,
            errors=3,
        ),
        Snapshot(
            ServerSpec("sentry", HttpServer("https://mcp.sentry.dev")),
            ServerState.NEEDS_AUTH,
            now - 2 * 3600,
            error=unauthorized,
        ),
        Snapshot(
            _command("memory", "docker", "run", "-i", "--rm", "mcp/memory"),
            ServerState.RETRYING,
            now - 40,
            error=lost,
            attempt=3,
            attempts=10,
            retry_at=now + 7.6,
            calls=31,
            errors=1,
        ),
        Snapshot(
            _command("playwright", "npx", "-y", "@playwright/mcp@latest"),
            ServerState.CONNECTING,
            now - 12,
            output="Downloading package… 12 s",
            pid=4711,
        ),
        Snapshot(
            ServerSpec("files", files, filters=Filters(tools=FILTERS), description="The projects folder"),
            ready,
            now - 2 * 3600,
            protocol="2025-11-25",
            server_name="filesystem",
            server_version="0.1.0",
            instructions="Paths must be inside the allowed folders. Ask for list_allowed_directories first.",
            capabilities=("tools", "resources", "prompts"),
            tools_visible=7,
            tools_total=11,
            resources=2,
            prompts_visible=1,
            prompts_total=1,
            latencies=(3, 4, 3, 3, 5, 3, 4, 3, 3),
            calls=128,
            connect_ms=41.0,
            steps=steps,
        ),
        Snapshot(
            ServerSpec("github", HttpServer("https://api.githubcopilot.com/mcp/")),
            ready,
            now - 2 * 3600,
            tools_visible=38,
            tools_total=52,
            latencies=(160, 170, 240, 182, 175, 310, 190, 178, 184),
            calls=46,
            errors=1,
        ),
        Snapshot(
            _command("fetch", "uvx", "mcp-server-fetch"),
            ready,
            now - 2 * 3600,
            tools_visible=1,
            tools_total=1,
            latencies=(30, 24, 26, 22, 25, 21, 24, 23, 22),
            calls=9,
            pid=4712,
        ),
        Snapshot(
            _command("time", "uvx", "mcp-server-time", "--local-timezone=UTC"),
            ready,
            now - 2 * 3600,
            tools_visible=2,
            tools_total=2,
            latencies=(9, 8, 8, 10, 8, 7, 8, 9, 8),
            calls=4,
            pid=4713,
        ),
        Snapshot(
            _command("pasted", "npx", "-y", "some-server", "--token", "${secret:ab/args.token}", unconfirmed=True),
            ServerState.STOPPED,
        ),
        Snapshot(
            ServerSpec("linear", HttpServer("https://mcp.linear.app/sse", "sse"), enabled=False),
            ServerState.DISABLED,
            now - 3 * 86400,
        ),
    ]


def sample_tools(server: str = "files") -> tuple[ToolInfo, ...]:
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Where"}},
        "required": ["path"],
    }
    raw = [{"name": name, "description": text, "inputSchema": schema} for name, text in TOOLS.items()]
    return tool_infos(server, raw, FILTERS)


def sample_prompts(server: str = "files") -> tuple[PromptInfo, ...]:
    arguments = [{"name": "path", "required": True}, {"name": "depth"}]
    return prompt_infos(server, [{"name": "summarise", "description": "Sum up", "arguments": arguments}], Patterns())


def sample_resources(server: str = "files") -> tuple[ResourceInfo, ...]:
    readme = {"name": "README", "uri": "file:///readme.md", "mimeType": "text/markdown", "description": "Read first"}
    template = {"name": "Any file", "uriTemplate": "file:///{path}"}
    return (
        ResourceInfo(server, "file:///readme.md", readme),
        ResourceInfo(server, "file:///{path}", template, template=True),
    )


def off(name: str, **fields: object) -> ServerSpec:
    """A command that is switched off."""
    return ServerSpec(name, StdioServer("some-command", (name,)), enabled=False, **fields)  # type: ignore[arg-type]


def files(name: str, folder: Path, **fields: object) -> ServerSpec:
    """The built-in file server on a folder."""
    target = BuiltinServer("filesystem", {"allowed_directories": [str(folder)]})
    return ServerSpec(name, target, **fields)  # type: ignore[arg-type]
