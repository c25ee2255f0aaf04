"""Headgate: a self-hosted studio for AI flows."""

__version__ = "0.1.0"
