"""Dry run: what a run would do, without doing any of it (seed 002, Dry Run Preview)."""
