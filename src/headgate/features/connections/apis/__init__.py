"""Descriptions of the APIs of connections: read, stored, searched."""
