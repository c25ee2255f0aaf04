"""Runs as they are looked at: summaries, graph, evidence, stream of events."""
