"""Composition only: settings in, parts wired, served."""
