"""Encryption of stored content."""
