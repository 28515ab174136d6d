"""Optional fields come as null instead of being left out."""

import mini

NULLS = dict.fromkeys(("title", "annotations", "outputSchema", "icons", "_meta"))


def initialize(message):
    mini.result(
        message["id"],
        {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": None}, "prompts": None},
            "serverInfo": {"name": "nulls", "version": "0", "title": None},
            "instructions": None,
        },
    )


mini.serve([mini.tool("echo", **NULLS)], over={"initialize": initialize})
