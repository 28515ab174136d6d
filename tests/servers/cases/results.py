"""Tools whose results are odd: the tool's name says how."""

import mini

NUMBER = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
RESULTS = {
    "fits": {"content": [], "structuredContent": {"x": 1}},
    "misfits": {"content": [], "structuredContent": {"x": "one"}},
    "unstructured": {"content": []},
    "says_no": {"content": [], "isError": True},
    "bad_schema": {"content": [], "structuredContent": {"x": 1}},
    "dead_ref": {"content": [], "structuredContent": {"x": 1}},
    "no_content": {"structuredContent": {"x": 1}},
}
SCHEMAS = {"bad_schema": {"type": "no such type"}, "dead_ref": {"$ref": "http://127.0.0.1:9/x.json"}}


def complete(message):
    argument = message["params"]["argument"]
    values = [argument["value"] + ending for ending in ("a", "b")]
    mini.result(message["id"], {"completion": {"values": values}, "asked": message["params"]["ref"]})


def call(message):
    name = message["params"]["name"]
    if name == "raw_number":
        number = b'{"content":[],"structuredContent":{"big":123456789012345678901,"nan":NaN,"half":"\\ud800"}}'
        return mini.raw(b'{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (message["id"], number))
    if name == "no_result":
        return mini.result(message["id"], None)
    if name == "batch":
        answer = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % message["id"]
        note = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"batched"}}'
        return mini.raw(b"[%s,%s]\n" % (note, answer))
    if name == "string_id":
        return mini.result(str(message["id"]), mini.text("found"))
    return mini.result(message["id"], RESULTS.get(name, mini.text("unlisted")))


mini.serve(
    [mini.tool(name, outputSchema=SCHEMAS.get(name, NUMBER)) for name in RESULTS],
    over={"tools/call": call, "completion/complete": complete},
)
