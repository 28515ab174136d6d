"""Tool `work` {steps, pause}: reports progress after each pause when it got a token; the answer says whether it did."""

import time

import mini


def call(message):
    params = message["params"]
    token, steps = params.get("_meta", {}).get("progressToken"), params["arguments"]["steps"]
    for step in range(steps):
        time.sleep(params["arguments"]["pause"])
        if token is not None:
            said = {"progressToken": token, "progress": step + 1, "total": steps, "message": f"step {step + 1}"}
            mini.notify("notifications/progress", said)
    mini.result(message["id"], mini.text(f"had token: {token is not None}"))


mini.serve([mini.tool("work")], over={"tools/call": call})
