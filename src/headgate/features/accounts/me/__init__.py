"""The caller: account and permissions."""
