"""Tools that talk back before they answer: the tool's name says how."""

import json
import os
import time

import mini


def answer_to(request_id):
    """The client's answer to that request of ours; pings that come before it are answered."""
    while (message := mini.receive()).get("id") != request_id or "method" in message:
        if message.get("method") == "ping":
            mini.result(message["id"], {})
    return message


def call(message):
    name = message["params"]["name"]
    if name == "log_in_order":
        for count in range(300):
            mini.notify("notifications/message", {"level": "info", "data": count})
    if name == "ask_and_withdraw":
        mini.request("q1", "sampling/createMessage", {"messages": [], "maxTokens": 5})
        mini.receive()  # a ping: the client is being asked now
        mini.notify("notifications/cancelled", {"requestId": "q1"})
        mini.request("q2", "ping")
        return mini.result(message["id"], mini.text(json.dumps(answer_to("q2"))))
    if name == "ask":
        mini.request("q3", "sampling/createMessage", {"messages": [], "maxTokens": 5})
        return mini.result(message["id"], mini.text(json.dumps(answer_to("q3"))))
    if name == "die":
        os._exit(7)
    if name == "close_pipes":
        os.close(1)
        return time.sleep(600)
    return mini.result(message["id"], mini.text("done"))


mini.serve([mini.tool("ask")], over={"tools/call": call})
