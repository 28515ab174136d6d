"""tools/list goes on for ever: always the same tools, each time with a new nextCursor."""

import itertools

import mini

count = itertools.count()
TOOLS = [mini.tool("one"), mini.tool("two")]

mini.serve(
    over={"tools/list": lambda message: mini.result(message["id"], {"tools": TOOLS, "nextCursor": f"c{next(count)}"})}
)
