"""Declares prompts and resources, yet answers their lists with errors (the second with a code that clients use too)."""

import mini

mini.serve(
    [mini.tool("echo")],
    capabilities={"tools": {}, "prompts": {}, "resources": {}},
    over={"resources/list": lambda message: mini.error(message["id"], -32000, "not implemented")},
)
