"""Views of runs: summaries, graph, evidence, stream of events."""
