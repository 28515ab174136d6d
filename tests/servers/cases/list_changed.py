"""Tool `change`: says at once that tools, prompts and resources have changed."""

import mini


def call(params):
    for kind in ("tools", "prompts", "resources"):
        mini.notify(f"notifications/{kind}/list_changed")
    return mini.text("changed")


mini.serve([mini.tool("change")], call=call, capabilities={"tools": {"listChanged": True}})
