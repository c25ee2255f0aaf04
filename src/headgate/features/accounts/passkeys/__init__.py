"""Passkeys (WebAuthn): signing in without a password, and as second factor of an account that has one."""
