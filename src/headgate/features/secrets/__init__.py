"""Encrypted variables."""
