"""Tenants, users and spaces, and authentication.

Users: `tenants`, `users`, `spaces` (with members and roles), `me` (the caller). Authentication: `sessions` (sign-in
with a password or a one-time link), `passwords` (rules and hashes), `single_sign_on`, `keys` (API keys). Each request:
`identity` (creates the principal), `credentials` (its one query, over separate connections), `throttle` (rate limits).
"""
