"""Ports of running flows; the entry points provide the adapters."""
