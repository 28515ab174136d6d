"""MCP servers that run inside Patchbay's own process."""
