"""One good tool among tools whose inputSchema is legal but unusual, and three entries that are no tools at all."""

import mini

SCHEMAS = {
    "good": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    "bool_prop": {"type": "object", "properties": {"raw": True, "never": False}},
    "no_properties": {"type": "object"},
    "empty_schema": {},
    "props_is_list": {"type": "object", "properties": [], "required": []},
    "props_null": {"type": "object", "properties": None},
    "type_list": {"type": ["object", "null"], "properties": {"n": {"type": ["integer", "null"], "default": None}}},
    "bad_ref": {"type": "object", "properties": {"x": {"$ref": "#/$defs/nowhere"}}},
    "remote_ref": {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/never-fetch.json"}}},
    "big_enum": {"type": "object", "properties": {"c": {"enum": [f"v{n:05d}" for n in range(20000)]}}},
}
TOOLS = [mini.tool(name, schema) for name, schema in SCHEMAS.items()]
NO_TOOLS = [{"inputSchema": {"type": "object"}}, mini.tool("", {}), "tool", mini.tool("listed", [])]

mini.serve([*TOOLS, *NO_TOOLS, mini.tool("good")])
