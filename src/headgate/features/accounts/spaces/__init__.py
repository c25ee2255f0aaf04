"""Spaces of a tenant, which contain flows, and their members."""
