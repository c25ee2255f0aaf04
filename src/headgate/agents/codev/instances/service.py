"""Flowise servers that sessions may work on: the operator's, and those that a tenant's admins added (DD-032).

A key is a variable, bound to the origin of its server: it is sent nowhere else, whatever the address becomes.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import SecretStr
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.instances import repository
from headgate.agents.codev.instances.errors import BadInstance, InstanceNotFound, InstanceTaken
from headgate.agents.codev.instances.schemas import FlowiseInstanceIn, FlowiseInstanceOut
from headgate.agents.codev.tables import InstanceRow
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.audit.recorder import record
from headgate.features.secrets import service as variables
from headgate.features.secrets.errors import VariableNotFound
from headgate.features.secrets.lookup import Variables
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.guarded_http import parse_target
from headgate.foundation.settings import CodevSettings

__all__ = ["Instance", "InstanceNotFound", "Instances"]
MOST_INSTANCES = 50
_OWN = "FLOWISE_KEY_"
"""Prefix of variables that are created and deleted with a server."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A server to work on, with its key."""

    id: str
    endpoint: str
    key: SecretStr = field(repr=False)
    vouched: bool
    """Whether the operator named it: then it may be in a private network."""


@dataclass(frozen=True, slots=True)
class Instances:
    """The servers of an installation.

    Args:
        settings: The operator's.
        database: Where those of tenants are.
        box: Encrypts their keys.
        variables_of: Where their keys are, for a user.
    """

    settings: CodevSettings
    database: Database
    box: SecretBox
    variables_of: Callable[[Principal], Variables]

    async def list(self, principal: Principal) -> Sequence[FlowiseInstanceOut]:
        """Return the servers that a user's sessions may use, the operator's first; never a key."""
        async with self.database.reading() as session:
            rows = await repository.list_instances(session, tenant_id=principal.tenant_id)
        own = [
            FlowiseInstanceOut(
                id=instance.id,
                endpoint=instance.endpoint,
                source="operator",
                has_key=bool(instance.api_key.get_secret_value()),
            )
            for instance in self.settings.flowise_instances
        ]
        taken = {instance.id for instance in own}
        return own + [described(row) for row in rows if row.id not in taken]

    async def find(self, principal: Principal, instance_id: str) -> Instance:
        """A server with its key; of an empty id the first. Raises `InstanceNotFound`, `VariableKept`."""
        known = await self.list(principal)
        shown = next((instance for instance in known if instance_id in ("", instance.id)), None)
        if shown is None:
            raise InstanceNotFound(instance_id, [instance.id for instance in known])
        if shown.source == "operator":
            own = next(instance for instance in self.settings.flowise_instances if instance.id == shown.id)
            return Instance(own.id, own.endpoint, own.api_key, vouched=True)
        key = SecretStr("")
        if shown.key_variable:
            variable_key = await self.variables_of(within(principal, "")).key_for(shown.key_variable, shown.endpoint)
            if variable_key is None:
                raise VariableNotFound(shown.key_variable)
            key = variable_key
        return Instance(shown.id, shown.endpoint, key, vouched=False)

    async def add(self, session: AsyncSession, principal: Principal, instance: FlowiseInstanceIn) -> FlowiseInstanceOut:
        """Add a server for the tenant. Nothing is sent to it.

        Raises `PermissionMissing`, `BadInstance`, `BadUrl`, `InstanceTaken`.
        """
        principal.require(Permission.VARIABLES_MANAGE)
        endpoint = _checked(instance)
        known = await repository.list_instances(session, tenant_id=principal.tenant_id)
        if len(known) >= MOST_INSTANCES:
            raise BadInstance(f"There are already {MOST_INSTANCES} Flowise servers.", remedy="Remove one first.")
        if instance.id in {row.id for row in known} | {configured.id for configured in self.settings.flowise_instances}:
            raise InstanceTaken(f"A Flowise server '{instance.id}' already exists.", remedy="Choose another name.")
        variable = await self._key(session, principal, instance, endpoint)
        row = InstanceRow(tenant_id=principal.tenant_id, id=instance.id, endpoint=endpoint, key_variable=variable)
        session.add(row)
        try:
            await session.flush()
        except IntegrityError as error:  # somebody else added it at the same moment
            raise InstanceTaken(
                f"A Flowise server '{instance.id}' already exists.", remedy="Choose another name."
            ) from error
        after = {"id": row.id, "endpoint": row.endpoint, "key_variable": row.key_variable}
        await record(session, principal, "codev_instance.added", id=row.id, name=row.id, after=after, payload=after)
        return described(row)

    async def remove(self, session: AsyncSession, principal: Principal, instance_id: str) -> None:
        """Remove a server of the tenant, and its key. Raises `InstanceNotFound`."""
        principal.require(Permission.VARIABLES_MANAGE)
        row = await repository.find_instance(session, instance_id, tenant_id=principal.tenant_id)
        if row is None:
            if instance_id in {instance.id for instance in self.settings.flowise_instances}:
                raise BadInstance(
                    f"The Flowise server '{instance_id}' is configured by the operator.",
                    remedy="It is set in HEADGATE_CODEV__FLOWISE_INSTANCES.",
                )
            raise InstanceNotFound(instance_id, [instance.id for instance in await self.list(principal)])
        before = {"id": row.id, "endpoint": row.endpoint, "key_variable": row.key_variable}
        if row.key_variable == _own_variable(row.id):
            with suppress(VariableNotFound):  # somebody removed it by itself
                await variables.delete_variable(session, principal, name=row.key_variable, organisation=True)
        await repository.delete_instance(session, row.id, tenant_id=principal.tenant_id)
        await record(session, principal, "codev_instance.removed", id=row.id, name=row.id, before=before)

    async def _key(
        self, session: AsyncSession, principal: Principal, instance: FlowiseInstanceIn, endpoint: str
    ) -> str:
        """The name of the variable that the key is in, stored for this server alone; empty without a key."""
        if instance.api_key is None or not instance.api_key.get_secret_value():
            return instance.key_variable
        name = _own_variable(instance.id)
        rows = await variables.list_variables(session, principal)
        if name in {row.name for row in rows if row.space_id is None}:
            raise InstanceTaken(
                f"The variable {name}, in which the key would be stored, already exists.",
                remedy="Choose another name for the server, or name the variable as 'key_variable'.",
            )
        origin = parse_target(endpoint).origin
        await variables.set_variable(
            session, principal, self.box, name=name, value=instance.api_key, hosts=[origin], organisation=True
        )
        return name


def described(row: InstanceRow) -> FlowiseInstanceOut:
    """A tenant's server as the API shows it."""
    return FlowiseInstanceOut(
        id=row.id,
        endpoint=row.endpoint,
        source="tenant",
        has_key=bool(row.key_variable),
        key_variable=row.key_variable,
    )


def _checked(instance: FlowiseInstanceIn) -> str:
    """Return the normalised address. Raises `BadInstance`, `BadUrl`."""
    if instance.api_key is not None and instance.key_variable:
        raise BadInstance("A server has either a key or a variable with the key, not both.", remedy="Omit one.")
    target = parse_target(instance.endpoint)
    if "?" in target.path or "@" in instance.endpoint:
        raise BadInstance("The URL of a Flowise server must not have a query or a password.", remedy="Remove them.")
    return target.url.rstrip("/").removesuffix("/api/v1")


def _own_variable(instance_id: str) -> str:
    return f"{_OWN}{re.sub(r'[^A-Z0-9]', '_', instance_id.upper())}"[:128]
