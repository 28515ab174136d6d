"""A call as text to paste elsewhere: JSON-RPC, Python, a command line. Secrets are never in it."""

from __future__ import annotations

import json
import pprint
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

from mcp_patchbay.domain.json_text import json_text
from mcp_patchbay.domain.servers import HttpServer, ServerSpec, StdioServer

if TYPE_CHECKING:
    from collections.abc import Mapping


def as_json_rpc(tool: str, arguments: Mapping[str, Any]) -> str:
    """The request as it goes to the server."""
    params = {"name": tool, "arguments": arguments}
    return json_text({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, indent=2)


def as_command_line(server: str, tool: str, arguments: Mapping[str, Any], *, windows: bool | None = None) -> str:
    """A command for the system's shell: POSIX quoting, on Windows PowerShell's."""
    words = [server, tool, json.dumps(arguments)]
    dashed = any(word.startswith("-") for word in words)
    quote = _quote_for_powershell if (sys.platform == "win32" if windows is None else windows) else shlex.quote
    return " ".join(["mcp-patchbay", "call", *(["--"] if dashed else []), *map(quote, words)])


def as_python(spec: ServerSpec | None, server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """A program that makes the same call: with the MCP SDK, or with our command for a built-in server.

    Values of env and headers are not written out: it reads them from variables.
    """
    if spec is None or not isinstance(spec.target, StdioServer | HttpServer):
        return _python_with_command(server, tool, arguments)
    lines = ["import asyncio"]
    target = spec.target
    if isinstance(target, StdioServer):
        lines += ["import os"] if target.env else []
        lines += ["", "from mcp import Client, StdioServerParameters", "", *_stdio_server(target)]
    elif target.headers or target.type == "sse":
        lines += ["import os"] if target.headers else []
        lines += ["", *_http_server(target)]
    else:
        lines += ["", "from mcp import Client", "", f"server = {_literal(target.url)}"]
    return "\n".join([*lines, "", *_call(tool, arguments)]) + "\n"


def _call(tool: str, arguments: Mapping[str, Any]) -> list[str]:
    return [
        "",
        "async def main():",
        "    async with Client(server) as client:",
        f"        arguments = {_literal(dict(arguments), 20)}",
        f"        result = await client.call_tool({_literal(tool)}, arguments)",
        "        print(result.model_dump_json(indent=2, by_alias=True, exclude_none=True))",
        "",
        "",
        "asyncio.run(main())",
    ]


def _stdio_server(target: StdioServer) -> list[str]:
    lines = ["server = StdioServerParameters(", f"    command={_literal(target.command)},"]
    lines.append(f"    args={_literal(list(target.args), 9)},")
    if target.env:
        values = ", ".join(f"{_literal(name)}: os.environ[{_literal(name)}]" for name in target.env)
        lines.append(f"    env={{{values}}},")
    if target.cwd:
        lines.append(f"    cwd={_literal(target.cwd)},")
    return [*lines, ")"]


def _http_server(target: HttpServer) -> list[str]:
    url = _literal(target.url)
    headers = ", ".join(f"{_literal(name)}: os.environ[{_literal(_variable(name))}]" for name in target.headers)
    if target.type == "sse":
        more = f", headers={{{headers}}}" if headers else ""
        return [
            "from mcp import Client",
            "from mcp.client.sse import sse_client",
            "",
            f"server = sse_client({url}{more})",
        ]
    return [
        "import httpx2",
        "from mcp import Client",
        "from mcp.client.streamable_http import streamable_http_client",
        "",
        f"http = httpx2.AsyncClient(headers={{{headers}}}, timeout=60, follow_redirects=True)",
        f"server = streamable_http_client({url}, http_client=http)",
    ]


def _python_with_command(server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    words = ["mcp-patchbay", "call", "--json", "--", server, tool]
    return "\n".join(
        [
            "import json",
            "import subprocess",
            "",
            f"arguments = {_literal(dict(arguments), 12)}",
            f"command = {_literal(words, 10)} + [json.dumps(arguments)]",
            "print(subprocess.run(command, capture_output=True, text=True).stdout)",
            "",
        ]
    )


def _variable(header: str) -> str:
    """The environment variable that stands for a header's value."""
    return re.sub(r"\W", "_", header, flags=re.ASCII).upper()


def _literal(value: Any, indent: int = 0) -> str:
    """Python source for a JSON value."""
    text = pprint.pformat(value, width=88, sort_dicts=False)
    return text.replace("\n", "\n" + " " * indent)


def _quote_for_powershell(word: str) -> str:
    """Single quotes keep everything; the quotes inside an argument need a backslash to reach a native program."""
    if re.fullmatch(r"[\w./:-]+", word, flags=re.ASCII):
        return word
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
    return "'" + escaped.replace("'", "''") + "'"
