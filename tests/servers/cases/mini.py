"""A stdio MCP server of a few lines, standard library only, for servers that misbehave on purpose.

CASE_LOG=<file> in the environment appends every line that was received.
"""

import json
import os
import sys

LOG = os.environ.get("CASE_LOG")


def raw(data):
    """Write bytes to stdout as they are."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message):
    raw(json.dumps(message, ensure_ascii=False).encode() + b"\n")


def result(request_id, value):
    send({"jsonrpc": "2.0", "id": request_id, "result": value})


def error(request_id, code, message):
    send({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})


def notify(method, params=None):
    send({"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})})


def request(request_id, method, params=None):
    send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})


def receive():
    """The next message; None at the end."""
    line = sys.stdin.buffer.readline()
    if LOG and line:
        with open(LOG, "ab") as log:
            log.write(line)
    return json.loads(line) if line else None


def tool(name, schema=None, **fields):
    schema = {"type": "object"} if schema is None else schema
    return {"name": name, "description": fields.pop("description", name), "inputSchema": schema, **fields}


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def serve(tools=(), call=None, over=None, capabilities=None, version="2025-06-18"):
    """Serve until stdin ends. `call(params)` gives a tool's result; `over` maps a method to what answers it."""
    over = over or {}
    while (message := receive()) is not None:
        method, request_id = message.get("method"), message.get("id")
        if method in over:
            over[method](message)
        elif method is None or request_id is None:
            continue
        elif method == "initialize":
            result(
                request_id,
                {
                    "protocolVersion": version,
                    "capabilities": {"tools": {}} if capabilities is None else capabilities,
                    "serverInfo": {"name": "case", "version": "0"},
                },
            )
        elif method == "tools/list":
            result(request_id, {"tools": list(tools)})
        elif method == "tools/call":
            params = message["params"]
            result(request_id, call(params) if call else text(json.dumps(params.get("arguments"))))
        elif method == "ping":
            result(request_id, {})
        else:
            error(request_id, -32601, "Method not found")
