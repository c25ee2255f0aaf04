"""Checks submitted code for the caller's organisation."""

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.store import keep_component
from headgate.foundation.database import Database


async def check_code(
    database: Database, checker: ComponentChecker, principal: Principal, code: str
) -> CheckedComponent:
    """Check code; code that passes is stored for the organisation.

    Requires edit permission in any space. Takes the database and not a session: no transaction is open while the
    sandbox runs. Raises `ComponentNotMade`, `PermissionMissing`, `SandboxUnavailable`, `SandboxBusy`.
    """
    principal.require_somewhere(Permission.FLOWS_EDIT)
    component = await checker.check(principal.tenant_id, code)
    async with database.writing() as session:
        await keep_component(session, principal, component)
    return component
