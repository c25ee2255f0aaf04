"""Idempotency keys: a repeated request that starts paid work starts it only once."""
