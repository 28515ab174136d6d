"""The composition root: the command line, or the window with everything under it.

Nothing of Qt is imported here before it is known that a window is wanted.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mcp_patchbay import cli

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_DISPLAY = """\
mcp-patchbay: there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set).
The command line needs none: mcp-patchbay list | check | tools | prompts | call
See mcp-patchbay --help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run Patchbay and return the exit status. `argv` without the program's name; None means the process's own."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if cli.wants(arguments):
        return cli.main(arguments)
    options = cli.window_parser().parse_args(arguments)
    if not _has_display():
        print(NO_DISPLAY, file=sys.stderr)
        return cli.WRONG_USE
    from mcp_patchbay.program import run_program

    return run_program(hidden=options.hidden, debug=options.debug, config=options.config)


def _has_display() -> bool:
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    sys.exit(main())
