"""Real MCP servers for the whole suite; `launch` starts them."""
