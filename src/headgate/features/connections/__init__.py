"""Connections: named credentials and addresses of a space, which flows refer to by name."""
