"""Tenants, their people and spaces, and how somebody proves who they are.

Who there is: `tenants`, `users`, `spaces` (with members and roles), `me` (who is asking).
How they prove it: `sessions` (signing in with a password or a one-time link, and what comes of it), `passwords` (how
they are judged and kept), `single_sign_on`, `keys` (API keys).
What each request goes through: `identity` (a request becomes a principal), `credentials` (its one query, over
connections of their own), `throttle` (rate limits).
"""
