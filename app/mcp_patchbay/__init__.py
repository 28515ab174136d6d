"""Patchbay: a desktop tray app for people who use MCP servers."""

__version__ = "0.1.0"
