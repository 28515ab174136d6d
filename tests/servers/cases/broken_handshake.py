"""Answers `initialize` with what argv[1] names: "empty" (nothing that is needed) or "version" (one that is unknown)."""

import sys

import mini

EMPTY = {}
VERSION = {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "old", "version": "0"}}
ANSWER = EMPTY if sys.argv[1] == "empty" else VERSION

mini.serve(over={"initialize": lambda message: mini.result(message["id"], ANSWER)})
