"""A server of the older era that never answers `server/discover`, and is fine with `initialize`."""

import os

import mini

mini.serve(
    [mini.tool("pid")],
    call=lambda params: mini.text(str(os.getpid())),
    over={"server/discover": lambda message: None},
)
