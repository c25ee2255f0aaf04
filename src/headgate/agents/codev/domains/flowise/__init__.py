"""A Flowise server as a place."""
