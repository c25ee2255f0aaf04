"""Encryption of stored content with a data key for each tenant, wrapped by the installation's keys (ADR 0032)."""
