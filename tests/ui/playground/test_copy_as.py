"""Calls as text to paste elsewhere."""

from __future__ import annotations

import ast
import asyncio
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer
from mcp_patchbay.ui.playground.copy_as import as_command_line, as_json_rpc, as_python

ARGUMENTS: dict[str, Any] = {"q": 'it\'s "$HOME" `x` \\ \n é', "n": 2**60, "none": None, "yes": True, "list": [1.0, {}]}
SERVERS = Path(__file__).parents[2] / "servers"


def test_json_rpc_is_the_request_itself() -> None:
    request = json.loads(as_json_rpc("search", ARGUMENTS))
    assert (request["method"], request["params"]) == ("tools/call", {"name": "search", "arguments": ARGUMENTS})


@pytest.mark.parametrize("server", ["github", "my server", "it's", "-x", "$(rm)"])
def test_a_posix_shell_reads_the_command_line_back(server: str) -> None:
    words = shlex.split(as_command_line(server, "tool", ARGUMENTS, windows=False))
    assert words[:2] == ["mcp-patchbay", "call"]
    assert words[-3:-1] == [server, "tool"]
    assert json.loads(words[-1]) == ARGUMENTS
    assert ("--" in words) == server.startswith("-")


def test_on_windows_the_quotes_are_those_of_powershell() -> None:
    line = as_command_line("my server", "tool", {"q": "it's", "p": "C:\\"}, windows=True)
    assert line == 'mcp-patchbay call \'my server\' tool \'{\\"q\\": \\"it\'\'s\\", \\"p\\": \\"C:\\\\\\\\\\"}\''


@pytest.mark.parametrize(
    "target",
    [
        HttpServer("https://example.com/mcp"),
        HttpServer("https://example.com/mcp", headers={"Authorization": "Bearer hunter2"}),
        HttpServer("https://example.com/sse", type="sse", headers={"X-Key": "hunter2"}),
        StdioServer("npx", ("-y", "server"), env={"API_KEY": "hunter2"}, cwd="/srv"),
        BuiltinServer("filesystem"),
    ],
)
def test_python_is_a_program_without_anyones_secret(target: Any) -> None:
    program = as_python(ServerSpec("github", target), "github", "search", ARGUMENTS)
    ast.parse(program)
    assert "hunter2" not in program
    assert "${" not in program


@pytest.mark.filterwarnings("default")
async def test_the_python_program_makes_the_same_call(tmp_path: Path) -> None:
    spec = ServerSpec("good", StdioServer(sys.executable, (str(SERVERS / "good.py"),)))
    file = tmp_path / "call.py"
    file.write_text(as_python(spec, "good", "echo", {"text": 'it\'s\n"é"'}), "utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(file), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, said = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, said.decode()
    assert json.loads(out)["content"][0]["text"] == 'it\'s\n"é"'
