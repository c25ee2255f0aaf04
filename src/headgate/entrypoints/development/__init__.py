"""Wires the development agent: its places, its models, where sessions are kept, and who works on them."""
