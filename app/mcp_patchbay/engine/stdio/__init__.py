"""MCP over a child process's standard input and output, as a `Dispatcher` of the mcp SDK."""
