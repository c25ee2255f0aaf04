"""Public addresses of triggers, for calls of other services."""
