"""Users of a tenant: listing, roles, activation."""
