"""Passwords: rules and hashes."""
