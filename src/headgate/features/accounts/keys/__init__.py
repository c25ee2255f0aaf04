"""API keys: a person's rights in a program's hand, cut down to what it needs."""
