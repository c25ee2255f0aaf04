"""Durable runs: steps, attempts, claims, the embedded engine."""
