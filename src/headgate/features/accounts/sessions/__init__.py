"""Signing in with a password, and the sessions that come of it."""
