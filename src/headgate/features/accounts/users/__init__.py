"""People of a tenant: who there is, what they may do in the tenant, whether they may come in."""
