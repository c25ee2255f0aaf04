"""Flows that are started when a run of another flow fails."""
