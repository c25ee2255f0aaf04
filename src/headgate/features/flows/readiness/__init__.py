"""Readiness: whether a flow can run. One check for every entry point (ADR 0025)."""
