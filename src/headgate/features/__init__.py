"""Vertical slices in a declared order; each has routes, service, repository, tables, schemas, errors."""
