"""Connections to MCP servers. asyncio and mcp, never Qt."""
