"""The sample servers as entries of servers.json."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from checks.waiting import until_sync
from servers.launch import FOLDER, Kind, npm_server, script_path

START_LIMIT = 60.0
OFF: dict[str, Any] = {"command": "nothing", "enabled": False}


def stdio(script: str, *arguments: str, **fields: Any) -> dict[str, Any]:
    """The entry of a sample server over stdio."""
    return {"command": sys.executable, "args": [str(script_path(script)), *arguments], **fields}


def by_npx(command: str) -> dict[str, Any]:
    """The entry of one of npm's servers as people start it; nothing is downloaded."""
    return {"command": "npx", "args": ["--no-install", command], "cwd": str(FOLDER)}


def npm(package: str, **fields: Any) -> dict[str, Any]:
    """The entry of one of npm's servers."""
    command, *arguments = npm_server(package)
    return {"command": command, "args": arguments, **fields}


@contextmanager
def url_server(script: str, *arguments: str, kind: Kind = "http") -> Iterator[str]:
    """A sample server over streamable HTTP or SSE; gives its URL."""
    command = [sys.executable, str(script_path(script)), kind, "0", *arguments]
    with _running(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        url = until_sync(process.stdout.readline, START_LIMIT, f"the URL of {script}")
        yield url.decode().strip()


@contextmanager
def everything_at_url(kind: Kind) -> Iterator[str]:
    """npm's server-everything over streamable HTTP or SSE; gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = npm_server("server-everything", "sse" if kind == "sse" else "streamableHttp")
    with _running(command, env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        until_sync(lambda: _answers(port), START_LIMIT, "server-everything at its URL")
        yield f"http://127.0.0.1:{port}/{'sse' if kind == 'sse' else 'mcp'}"


@contextmanager
def _running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, **options) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
