"""Frames every message with the headers of the language server protocol instead of newlines."""

import json

import mini

while (message := mini.receive()) is not None:
    if message.get("id") is not None:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}).encode()
        mini.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
