"""Another model of the same provider when the provider will not give the one that was chosen (seed 001, ADR-024)."""
