"""The playground: calls any tool by hand."""
