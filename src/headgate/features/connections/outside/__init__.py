"""Secrets that are stored outside of Headgate, and the stores that they are read from."""
