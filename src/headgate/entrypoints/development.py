"""Wires the development agent: its places, its models, where sessions are kept, and who works on them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic import SecretStr

from headgate.agents.codev.domain import Domain, Workplace
from headgate.agents.codev.domains.flowise.domain import FlowiseDomain, FlowiseServers
from headgate.agents.codev.instances.service import Instances
from headgate.agents.codev.patterns.library import PatternLibrary
from headgate.agents.codev.reasoning.chooser import ReasoningChooser
from headgate.agents.codev.schemas import InstanceOut
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.agents.codev.sessions.notices import Notices
from headgate.agents.codev.sessions.places import Place, Surroundings
from headgate.agents.codev.sessions.runner import Runner
from headgate.agents.codev.sessions.service import STARTS, Sessions
from headgate.agents.codev.sessions.telling import Live
from headgate.entrypoints.assistance import Assistance
from headgate.entrypoints.flow_runs import FlowRuns
from headgate.entrypoints.services import StepServices
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.throttle import limits_of
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.search import WordIndex
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.service import get_flow
from headgate.features.models.ports import KeySource
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.evidence.service import Notary
from headgate.features.testing.service import keep_cases
from headgate.foundation.crypto import EvidenceSeed
from headgate.foundation.database import Database
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import Settings
from headgate.graph.cases import TestCase
from headgate.graph.model import Flow


@dataclass(frozen=True, slots=True)
class Ground:
    """What the development agent stands on."""

    settings: Settings
    base: StepServices
    runs: FlowRuns
    index: WordIndex
    engine: ExecutionBackend
    rules: FlowRules
    assistance: Assistance
    flowise: FlowiseServers

    @property
    def database(self) -> Database:
        """The installation's."""
        return self.runs.database

    @property
    def notary(self) -> Notary:
        """Signs and seals evidence."""
        return Notary(self.base.box, EvidenceSeed(self.settings))

    def keys_of(self, principal: Principal) -> KeySource:
        """Where the keys of a person's models come from."""
        return self.base.variables_of(principal.tenant_id)

    async def secret_of(self, tenant_id: str, name: str) -> SecretStr | None:
        """The value of a tenant's variable; None when there is none."""
        return await self.base.variables_of(tenant_id).key(name)

    def patterns_of(self, principal: Principal, space_id: str, domain: str, session_id: str) -> PatternLibrary:
        """The library of patterns of a session."""
        return PatternLibrary(self.database, principal, space_id, domain, session_id)

    async def catalog_of(self, principal: Principal, flow: Flow) -> Overlay:
        """The components that a person may use in a flow."""
        own = await self.assistance.workshop.components.own_components(principal, flow)
        return Overlay(self.base.registry, self.index, own)

    async def flowise_instances(self, principal: Principal) -> Sequence[InstanceOut]:
        """The Flowise servers that a person's sessions may work on."""
        found = await self.flowise.instances.list(principal)
        return [InstanceOut(id=one.id, endpoint=one.endpoint) for one in found]

    async def space_of(self, principal: Principal, flow_id: str) -> str:
        """The space of a flow that the person may edit. Raises `FlowNotFound`, `PermissionMissing`."""
        async with self.database.reading() as session:
            return (await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT)).space_id


def flowise_servers(settings: Settings, database: Database, base: StepServices) -> FlowiseServers:
    """The Flowise servers of an installation; nothing is sent to them yet."""
    instances = Instances(settings.codev, database, base.box, base.variables_of)
    return FlowiseServers(instances, FlowiseDomain(settings, instances))


@dataclass(frozen=True, slots=True)
class LateDomain:
    """A domain that is made when the first session needs it: what it stands on costs time to import."""

    name: str
    make: Callable[[], Domain]

    async def open(self, principal: Principal, space_id: str, instance_id: str) -> Workplace:
        """See `Domain`."""
        return await self.make().open(principal, space_id, instance_id)


@dataclass(frozen=True, slots=True)
class FlowTests:
    """Keeps accepted cases as the test set of a flow."""

    database: Database
    principal: Principal

    async def keep(self, flow_id: str, cases: Sequence[TestCase]) -> None:
        """Keep them, by name. Raises `FlowNotFound`, `PermissionMissing`."""
        async with self.database.writing() as session:
            await keep_cases(session, self.principal, flow_id, cases)


@asynccontextmanager
async def open_development(ground: Ground, *, recover: bool) -> AsyncIterator[Sessions]:
    """The development agent of an installation; sessions that are worked on are let go of at the end.

    Args:
        ground: What it stands on.
        recover: Whether this process takes up sessions that others left. The server does; a command works on its own.
    """
    settings, live = ground.settings, Live()
    http = GuardedHttp(settings.http)
    around = Surroundings(
        reasoning=ReasoningChooser(settings.codev, settings.models, ground.keys_of, ground.base.local_models),
        patterns=ground.patterns_of,
        http=http,
        secret_of=ground.secret_of,
        places=_places(ground),
    )
    notices = Notices(ground.database, around, live, page=settings.server.public_url or "")
    checkpoints = Checkpoints(settings, ground.database)
    runner = Runner(settings, ground.database, ground.base.box, around, checkpoints, live, notices)
    limits = limits_of(settings, {STARTS: settings.codev.sessions_per_minute})
    sweeping = asyncio.create_task(runner.keep_running()) if recover else None
    try:
        yield Sessions(settings, ground.database, runner, limits)
    finally:
        if sweeping is not None:
            sweeping.cancel()
            await asyncio.wait([sweeping])
        await runner.close()
        await notices.close()
        await checkpoints.close()
        await limits.close()
        await http.close()


def _places(ground: Ground) -> dict[str, Place]:
    def headgate() -> Domain:
        own: Domain = _load_headgate().domain_of(ground)
        return own

    return {
        "headgate": Place(
            domain=LateDomain("headgate", headgate),
            label="Headgate",
            test_sets=lambda principal: FlowTests(ground.database, principal),
            space_of=ground.space_of,
        ),
        "flowise": Place(domain=ground.flowise.domain, label="Flowise", instances=ground.flowise_instances),
    }


def _load_headgate() -> Any:  # noqa: ANN401 - the module; it imports the toolkit's stored operations
    return import_module("headgate.entrypoints.development_places")
