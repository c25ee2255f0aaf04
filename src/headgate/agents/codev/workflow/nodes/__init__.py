"""The nodes of the graph, by phase. None of them knows the graph: each takes the state and what it works with."""
