"""Processes of an installation: servers, workers and their children, what they work on, and drain mode."""
