"""The graph of a session: its nodes, its routes, and how what models say is read."""
