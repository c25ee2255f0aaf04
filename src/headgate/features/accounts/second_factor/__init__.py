"""Second factors: authenticator apps, recovery codes, and the organisation's policy."""
