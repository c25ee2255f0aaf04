"""Passwords: which may be used, and how they are kept."""
