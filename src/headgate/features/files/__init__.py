"""Uploaded files and artifacts."""
