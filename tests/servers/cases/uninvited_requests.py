"""Tool `ask`: asks for elicitation, sampling and roots, and tells what came back, by its code or "result"."""

import json

import mini

FORM = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
QUESTIONS = (
    ("e1", "elicitation/create", {"message": "Really?", "requestedSchema": FORM}),
    ("s1", "sampling/createMessage", {"messages": [], "maxTokens": 5}),
    ("r1", "roots/list", {}),
)


def call(message):
    for request_id, method, params in QUESTIONS:
        mini.request(request_id, method, params)
    answers = {}
    while len(answers) < len(QUESTIONS):
        answer = mini.receive()
        answers[answer["id"]] = answer["error"]["code"] if "error" in answer else "result"
    mini.result(message["id"], mini.text(json.dumps(answers)))


mini.serve([mini.tool("ask")], over={"tools/call": call})
