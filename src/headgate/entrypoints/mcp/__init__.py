"""The MCP server: the toolkit's operations for MCP clients, over HTTP at `/mcp` and over standard input and output."""
