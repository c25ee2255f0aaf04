"""Flow operations for agents and MCP clients, on a `Workbench`: `registry` and `operations` list them."""
