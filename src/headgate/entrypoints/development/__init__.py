"""Wires the development agent: platforms, models, session storage and workers."""
