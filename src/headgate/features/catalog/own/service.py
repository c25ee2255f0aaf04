"""Checking code that somebody hands in, for the organisation they are in."""

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.store import keep_component
from headgate.foundation.database import Database


async def check_code(
    database: Database, checker: ComponentChecker, principal: Principal, code: str
) -> CheckedComponent:
    """Check code; what passes is known in the organisation from then on.

    Who may edit flows of any space may. It takes the database and not a session: no transaction is open while the
    sandbox works. Raises `ComponentNotMade`, `PermissionMissing`, `SandboxUnavailable`, `SandboxBusy`.
    """
    principal.require_somewhere(Permission.FLOWS_EDIT)
    made = await checker.check(principal.tenant_id, code)
    async with database.writing() as session:
        await keep_component(session, principal, made)
    return made
