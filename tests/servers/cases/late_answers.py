"""Tool `slow`: answered only when `release` is called. Tool `stats`: the calls of `slow` and the ids cancelled."""

import json

import mini

seen = {"calls": 0, "cancelled": []}
waiting = []


def call(message):
    name = message["params"]["name"]
    if name == "slow":
        seen["calls"] += 1
        waiting.append(message["id"])
        return
    if name == "release":
        for request_id in waiting:
            mini.result(request_id, mini.text("late answer"))
    mini.result(message["id"], mini.text(json.dumps(seen)))


mini.serve(
    [mini.tool("slow"), mini.tool("stats"), mini.tool("release")],
    over={
        "tools/call": call,
        "notifications/cancelled": lambda message: seen["cancelled"].append(message["params"]["requestId"]),
    },
)
