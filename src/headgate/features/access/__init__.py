"""Access control: the permission table, and the caller of a route."""
