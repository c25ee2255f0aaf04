"""Tools of a space's MCP servers, for the steps of its flows."""
