"""Memory of conversations with the assistant, for later turns (seed 000, ADR-020)."""
