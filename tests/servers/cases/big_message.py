"""Tool `big` {kb}: one answer of that many KiB of 3-byte characters, written in odd-sized pieces."""

import json

import mini


def call(message):
    kb = int(message["params"]["arguments"]["kb"])
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": mini.text("汉" * (kb * 1024 // 3))}
    line = json.dumps(answer, ensure_ascii=False).encode() + b"\n"
    for start in range(0, len(line), 65537):
        mini.raw(line[start : start + 65537])


mini.serve([mini.tool("big", description="x" * 200_000)], over={"tools/call": call})
