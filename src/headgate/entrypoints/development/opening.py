"""Makes the development agent of an installation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from headgate.agents.codev.domain import Domain, Workplace
from headgate.agents.codev.domains.flowise.domain import FlowiseDomain, FlowiseServers
from headgate.agents.codev.instances.service import Instances
from headgate.agents.codev.reasoning.chooser import ReasoningChooser
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.agents.codev.sessions.event_log import LiveEvents
from headgate.agents.codev.sessions.notices import Notices
from headgate.agents.codev.sessions.places import Place, Surroundings
from headgate.agents.codev.sessions.runner import Runner
from headgate.agents.codev.sessions.service import STARTS, Sessions
from headgate.entrypoints.development.ground import Ground
from headgate.entrypoints.installation import Installation
from headgate.features.access.principal import Principal
from headgate.features.accounts.throttle import limits_of
from headgate.features.testing.service import keep_cases
from headgate.foundation.database import Database
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import Settings
from headgate.graph.cases import TestCase


def flowise_servers(settings: Settings, database: Database, base: Installation) -> FlowiseServers:
    """The Flowise servers of an installation; nothing is sent to them yet."""
    instances = Instances(settings.codev, database, base.box, lambda principal: base.keys_of(principal, "flowise"))
    return FlowiseServers(instances, FlowiseDomain(settings, instances))


@dataclass(frozen=True, slots=True)
class LateDomain:
    """A domain that is created when the first session needs it: its imports take time."""

    name: str
    make: Callable[[], Domain]

    async def open(self, principal: Principal, space_id: str, instance_id: str) -> Workplace:
        """See `Domain`."""
        return await self.make().open(principal, space_id, instance_id)


@dataclass(frozen=True, slots=True)
class FlowTests:
    """Stores accepted cases as the test set of a flow."""

    database: Database
    principal: Principal

    async def keep(self, flow_id: str, cases: Sequence[TestCase]) -> None:
        """Store them, by name. Raises `FlowNotFound`, `PermissionMissing`."""
        async with self.database.writing() as session:
            await keep_cases(session, self.principal, flow_id, cases)


class Development:
    """The development agent of an installation; close it at the end.

    Args:
        ground: The parts it is built from. Its jobs run the sessions.
    """

    def __init__(self, ground: Ground) -> None:
        settings, base, live, jobs = ground.settings, ground.installation, LiveEvents(), ground.services.jobs
        self._http = GuardedHttp(settings.http, settings.outgoing)
        around = Surroundings(
            reasoning=ReasoningChooser(settings.codev, base.development_keys, ground.services.web, base.local_models),
            patterns=ground.patterns_of,
            http=self._http,
            secret_of=ground.secret_of,
            places=_places(ground),
        )
        notices = Notices(ground.database, around, live, jobs, page=settings.server.public_url or "")
        self._checkpoints = Checkpoints(settings, ground.database)
        runner = Runner(settings, ground.database, base.box, around, self._checkpoints, live, jobs, notices)
        self._limits = limits_of(settings, {STARTS: settings.codev.sessions_per_minute})
        self.sessions = Sessions(settings, ground.database, runner, self._limits, ground.notary)

    async def close(self) -> None:
        """Close what sessions needed; their jobs are closed before."""
        await self._checkpoints.close()
        await self._limits.close()
        await self._http.close()


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
    return import_module("headgate.entrypoints.development.own_flows")
