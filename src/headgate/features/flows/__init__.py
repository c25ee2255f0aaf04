"""Drafts and immutable versions."""
