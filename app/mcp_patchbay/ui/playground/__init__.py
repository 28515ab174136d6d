"""The playground: calls any tool by hand. `PlaygroundDialog` is its window."""

from mcp_patchbay.ui.playground.dialog import PlaygroundDialog

__all__ = ["PlaygroundDialog"]
