"""Models of one space: its variables and setup. The `KeySource` of a running server."""

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue, SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.models import repository
from headgate.features.models.errors import KeyMissing
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import ADDRESS_VARIABLES, PROVIDER_VARIABLES
from headgate.features.models.setup.chosen import default_step_model
from headgate.features.models.setup.sealed import Secret, references_of, unseal
from headgate.features.models.setup.values import (
    ModelFacts,
    ModelRole,
    ModelServer,
    ModelSetup,
    RoleChoice,
    ServerAccess,
    ServerKind,
)
from headgate.features.models.tables import ModelRoleRow, ModelServerRow
from headgate.features.secrets.lookup import LoadedVariables, Variables
from headgate.features.secrets.reads import STORED_WITH, Source
from headgate.features.secrets.service import list_used
from headgate.foundation import secret_values
from headgate.foundation.guarded_http.addresses import Network
from headgate.graph.check_headers import carries_credential
from headgate.graph.secret_reference import SecretReference
from headgate.sdk.values import Model


class SpaceModels(Variables):
    """Variables, servers, facts and roles of one space. What is set up is read once: open one for each request."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401 - those of `Variables`
        roles: Mapping[ModelRole, RoleChoice] = MappingProxyType({}),
        **named: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*arguments, **named)
        self._roles = roles
        self._setup: ModelSetup | None = None
        self._reading = asyncio.Lock()

    @property
    def open_networks(self) -> Sequence[Network]:
        """Internal networks that an address which users set may lead to."""
        return self._open_to

    async def setup(self) -> ModelSetup:
        """Return the setup of the space; a server of the space has precedence over the organisation's."""
        async with self._reading:
            if self._setup is None:
                self._setup = await self._read()
            return self._setup

    async def access(self, server: ModelServer) -> ServerAccess:
        """Return the key and headers of a server, with the values of the variables that they name."""
        sealed = unseal(self._box, server.sealed)
        if sealed.holds_text:
            owner: Source = "organisation" if server.space_id is None else "space"
            await self.note(f"model_server{STORED_WITH}{server.name}", owner)
        key = await _filled(self, server, "key", sealed.key) if sealed.key else None
        headers = {name: await _filled(self, server, name, value) for name, value in sealed.headers.items()}
        return ServerAccess(None if key is None else SecretStr(key), headers)

    async def checks(self) -> KeySource:
        """Variables and what is set up, as they are now, for checks."""
        return await self.loaded()

    async def loaded(self, session: AsyncSession | None = None) -> "LoadedModels":
        """Return a snapshot of variables and setup, for checks: no read is recorded."""
        if session is None:
            async with self._database.reading() as own:
                return await self.loaded(own)
        rows = await list_used(session, tenant_id=self._tenant_id, space_id=self._space_id)
        reading = rows, self._box, self._from_environment, self._open_to
        models = LoadedModels(*reading, outgoing=self.outgoing, addresses=ADDRESS_VARIABLES)
        models.of = await self._read(session)
        return models

    async def step_model(self, session: AsyncSession) -> JsonValue:
        """Return the default model for steps, as in a model field; None when there is none."""
        return default_step_model(await self._read(session))

    async def _read(self, session: AsyncSession | None = None) -> ModelSetup:
        if session is None:
            async with self._database.reading() as own:
                return await self._read(own)
        tenant = self._tenant_id
        servers = await repository.list_servers(session, tenant_id=tenant, space_ids={self._space_id})
        facts = await repository.list_facts(session, tenant_id=tenant)
        roles = await repository.list_roles(session, tenant_id=tenant)
        return ModelSetup(
            {row.name: server_of(row, self._open_to) for row in reversed(servers)},  # the space's own last: it wins
            {(row.provider, row.name): ModelFacts.model_validate(row.facts) for row in facts},
            {**self._roles, **{ModelRole(row.role): self._chosen(row) for row in roles}},
        )

    def _chosen(self, row: ModelRoleRow) -> RoleChoice:
        """Return a stored choice; parameters of variables apply where it sets none."""
        role = ModelRole(row.role)
        models = tuple(Model.model_validate(stored) for stored in row.models)
        return RoleChoice(models, "settings", self._roles.get(role, RoleChoice()).params)


class LoadedModels(LoadedVariables):
    """Variables and what is set up for models, as they were at one moment. Answers without waiting."""

    of: ModelSetup

    async def checks(self) -> KeySource:
        """Itself."""
        return self

    async def setup(self) -> ModelSetup:
        """Return the setup of the space."""
        return self.of

    async def access(self, server: ModelServer) -> ServerAccess:
        """Raise what a request to the server would raise: `Forbidden`, `KeyMissing`."""
        for name, reference in references_of(self._box, server.sealed).items():
            await _filled(self, server, name, reference)
        return ServerAccess()


async def _filled(keys: KeySource, server: ModelServer, name: str, value: Secret) -> str:
    if not isinstance(value, SecretReference):
        if name == "key" or carries_credential(name):
            secret_values.read(value.rpartition(" ")[2])
        return value
    secret = await keys.key_for(value.name, server.address, bound=value.name in PROVIDER_VARIABLES)
    if secret is None:
        raise KeyMissing(
            f"The model server '{server.name}' reads its {name} from the variable {value.name}, which is not set.",
            remedy=f"Set it with `headgate variables set {value.name}`, or change the server.",
            variable=value.name,
        )
    return value.filled(secret.get_secret_value())


def server_of(row: ModelServerRow, networks: Sequence[Network]) -> ModelServer:
    """Return a stored server."""
    kind: ServerKind = "ollama" if row.kind == "ollama" else "openai"
    return ModelServer(row.name, kind, row.address, row.space_id, row.sealed, tuple(networks))
