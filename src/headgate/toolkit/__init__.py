"""Operations on a flow that an agent or an MCP client may call, on a `Workbench`."""
