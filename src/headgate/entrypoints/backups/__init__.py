"""Backups of an installation: database, files, workspaces and keys in one archive, and their restore."""
