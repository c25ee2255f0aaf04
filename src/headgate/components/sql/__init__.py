"""Databases of connections: queries, writes and their schema."""
