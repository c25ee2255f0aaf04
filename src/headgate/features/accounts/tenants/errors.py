"""What can go wrong with tenants."""

from headgate.foundation.errors import Conflict, NotFound


class TenantNotFound(NotFound):
    """No tenant of that name or id."""

    code = "tenant_not_found"
    title = "Tenant not found"

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"There is no tenant '{wanted}'.",
            remedy="List them with `headgate tenants list`, make one with `headgate tenants create`.",
        )


class TenantNameTaken(Conflict):
    """Another tenant has that name."""

    code = "tenant_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a tenant called '{name}' already.", remedy="Choose another name.")
