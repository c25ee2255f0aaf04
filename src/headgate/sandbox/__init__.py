"""Runs code that came with a flow outside the server process."""
