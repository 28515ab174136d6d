"""250 tools and 120 prompts, resources and templates on pages of 100, with opaque cursors; an unknown cursor fails."""

import base64

import mini

PAGE = 100


def pages(entries, key):
    def answer(message):
        cursor = (message.get("params") or {}).get("cursor")
        try:
            start = 0 if cursor is None else int(base64.b64decode(cursor))
        except ValueError:
            return mini.error(message["id"], -32602, "bad cursor")
        page = {key: entries[start : start + PAGE]}
        if start + PAGE < len(entries):
            page["nextCursor"] = base64.b64encode(str(start + PAGE).encode()).decode()
        return mini.result(message["id"], page)

    return answer


mini.serve(
    capabilities={"tools": {}, "prompts": {}, "resources": {}},
    over={
        "tools/list": pages([mini.tool(f"tool_{n:03d}") for n in range(250)], "tools"),
        "prompts/list": pages([{"name": f"prompt_{n:03d}"} for n in range(120)], "prompts"),
        "resources/list": pages([{"uri": f"memo://{n}", "name": str(n)} for n in range(120)], "resources"),
        "resources/templates/list": pages(
            [{"uriTemplate": f"memo://{n}/{{x}}", "name": str(n)} for n in range(120)], "resourceTemplates"
        ),
    },
)
