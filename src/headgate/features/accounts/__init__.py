"""Tenants, spaces and users."""
