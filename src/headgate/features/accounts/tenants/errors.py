"""Errors of tenants."""

from headgate.foundation.errors import Conflict, NotFound


class TenantNotFound(NotFound):
    """No tenant has that name or id."""

    code = "tenant_not_found"
    title = "Tenant not found"
    remedy = "List tenants with `headgate tenants list`, create one with `headgate tenants create`."

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no tenant '{name}'.")


class TenantNameTaken(Conflict):
    """Another tenant has that name."""

    code = "tenant_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"A tenant named '{name}' already exists.", remedy="Choose another name.")
