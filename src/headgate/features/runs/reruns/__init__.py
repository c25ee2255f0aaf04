"""Continuing ended runs: resume, and rerun from a step, reusing paid results."""
