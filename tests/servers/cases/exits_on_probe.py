"""A server of the older era for which any first message but `initialize` is fatal."""

import sys

import mini

first = mini.receive()
if first is None or first.get("method") != "initialize":
    print("fatal: expected initialize", file=sys.stderr)
    sys.exit(1)
mini.result(
    first["id"],
    {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "0"}},
)
mini.serve([mini.tool("echo")])
