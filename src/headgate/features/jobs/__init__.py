"""Durable jobs: rows that are due at a time or on an event, claimed by one process at a time under a lease."""
