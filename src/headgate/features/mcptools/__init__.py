"""Tools of MCP servers that a space has registered, for the steps of its flows."""
