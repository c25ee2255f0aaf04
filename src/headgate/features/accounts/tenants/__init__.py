"""Tenants: made and looked at by whoever keeps the installation, on the command line."""
