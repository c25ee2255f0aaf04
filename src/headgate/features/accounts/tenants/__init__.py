"""Tenants: administered by the operator on the command line."""
