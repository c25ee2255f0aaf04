"""Idempotency keys: a request that starts paid work and is sent twice starts it once."""
