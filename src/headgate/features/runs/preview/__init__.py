"""Dry run: reports what a run would do without executing it (seed 002, Dry Run Preview)."""
