"""Errors of tenants."""

from headgate.foundation.errors import Conflict, NotFound


class TenantNotFound(NotFound):
    """No tenant has that name or id."""

    code = "tenant_not_found"
    remedy = "List tenants with `headgate tenants list`, create one with `headgate tenants create`."
    detail = "There is no tenant '{}'."


class TenantNameTaken(Conflict):
    """Another tenant has that name."""

    code = "tenant_name_taken"
    title = "Name taken"
    detail = "A tenant named '{}' already exists."
    remedy = "Choose another name."
