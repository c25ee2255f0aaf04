"""Maintenance jobs of an installation: retention, removal of orphans, recovery."""
