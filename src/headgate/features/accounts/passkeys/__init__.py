"""Passkeys (WebAuthn): sign-in without a password, and second factor."""
