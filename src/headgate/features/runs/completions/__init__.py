"""OpenAI-compatible chat completions: published flows served as chat models."""
