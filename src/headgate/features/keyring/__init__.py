"""Rotation of the keys that encrypt secrets and sign evidence."""
