"""tools/list is always the same page with the same nextCursor: argv[1], or "8"."""

import sys

import mini

CURSOR = sys.argv[1] if len(sys.argv) > 1 else "8"
PAGE = {"tools": [mini.tool(f"t{count}") for count in range(8)], "nextCursor": CURSOR}

mini.serve(over={"tools/list": lambda message: mini.result(message["id"], PAGE)})
