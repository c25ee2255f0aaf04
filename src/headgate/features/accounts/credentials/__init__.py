"""Lookup of API keys and sessions, over separate connections."""
