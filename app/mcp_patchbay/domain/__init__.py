"""What a server, a filter, a state and a tool is. Pure: no I/O, no asyncio, no Qt, no mcp."""
