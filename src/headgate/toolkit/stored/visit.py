"""One request of a user on stored data, with the services that execute it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from headgate.features.access.permissions import Permission, is_of_space
from headgate.features.access.principal import Again, Principal
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import WordIndex
from headgate.features.files.limits import StorageLimits
from headgate.features.files.service import MAX_FILE_BYTES
from headgate.features.files.storage import Storage
from headgate.features.flows import service as flows
from headgate.features.flows import undo
from headgate.features.flows.errors import StaleRevision
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.tables import FlowRow
from headgate.features.flows.transfer import Triggers
from headgate.features.flows.undo import Draft
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import KeySource
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.ports.flows import Sealer
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from headgate.graph.model import Flow
from headgate.toolkit.ports import ComponentMaker, RunsFlows
from headgate.toolkit.workbench import Workbench

if TYPE_CHECKING:
    from headgate.features.knowledge.search.service import Searcher
    from headgate.features.runs.evidence.service import Notary
    from headgate.features.runs.preview.service import DryRuns
    from headgate.features.testing.runner import TestRuns

CatalogOf = Callable[[Principal, Flow], Awaitable[Overlay]]
"""The components that a user may use in a flow: built-in, the flow's custom and the user's custom ones."""


@dataclass(frozen=True, slots=True)
class Studio:
    """Services of an installation, without request state."""

    database: Database
    registry: Registry
    index: WordIndex
    rules: FlowRules
    engine: ExecutionBackend
    notary: "Notary"
    runs: RunsFlows
    catalog_of: CatalogOf
    tests: "TestRuns | None" = None
    files_of: Callable[[Principal], UserWorkspace | None] = lambda _principal: None
    maker_of: Callable[[Principal], ComponentMaker | None] = lambda _principal: None
    dry_runs: "DryRuns | None" = None
    keys_of: Callable[[Principal], KeySource] | None = None
    """Keys of models."""
    local: LocalModels | None = None
    storage: Storage | None = None
    """Contents of uploaded files."""
    max_upload_bytes: int = MAX_FILE_BYTES
    storage_limits: StorageLimits | None = None
    box: Sealer | None = None
    """Decrypts what approvals show, and state."""
    triggers: Triggers | None = None
    """Adds the triggers of templates."""
    searcher: "Searcher | None" = None
    """Searches knowledge bases."""

    def knowledge(self) -> "Searcher":
        """Return `searcher`. Raises `Unavailable` where there is none."""
        if self.searcher is None:
            raise Unavailable("Knowledge cannot be searched here.", remedy="Search it in the page.")
        return self.searcher

    def sealer(self) -> Sealer:
        """Return `box`. Raises `Unavailable` where there is none."""
        if self.box is None:
            raise Unavailable("Encrypted values cannot be read here.", remedy="Open them in the page.")
        return self.box


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: its user, and the receiver of its progress."""

    studio: Studio
    principal: Principal
    report: Callable[[str], None] = lambda _message: None
    """Receives a short description of each action while it runs."""
    again: Again | None = None
    """Checks the caller's current rights, for work after the response; None where rights cannot change."""

    def require(self, permission: Permission) -> None:
        """Raise `PermissionMissing` unless the caller has it in some space; the service checks the space."""
        if is_of_space(permission):
            self.principal.require_somewhere(permission)
        else:
            self.principal.require(permission)

    async def flow(self, flow_id: str, permission: Permission = Permission.FLOWS_VIEW) -> FlowRow:
        """Return a stored flow. Raises `FlowNotFound`, `PermissionMissing`."""
        async with self.studio.database.reading() as session:
            return await flows.get_flow(session, self.principal, flow_id, permission=permission)

    async def catalog(self, flow: Flow) -> Overlay:
        """Return the components that the caller may use in a flow."""
        return await self.studio.catalog_of(self.principal, flow)

    async def environment(self, space_id: str, flow: Flow) -> Environment:
        """Return the environment of a flow of a space."""
        return await self.studio.rules.environment(self.principal.tenant_id, space_id, flow=flow)

    def bench(
        self,
        flow: Flow,
        space_id: str,
        catalog: Overlay,
        environment: Environment | None = None,
        *,
        flow_id: str | None = None,
    ) -> Workbench:
        """Return a workbench for one operation; `environment` for those that check flows, `flow_id` of a stored one."""
        return Workbench(
            principal=self.principal,
            space_id=space_id,
            flow=flow,
            registry=catalog,
            maker=self.studio.maker_of(self.principal),
            files=self.studio.files_of(self.principal),
            stored=StoredDraft(lambda: self, lambda: flow_id),
            environment=environment,
        )


@dataclass
class StoredDraft:
    """A `ports.StoredFlow`: the stored flow of a workbench. A new one has no id."""

    make_visit: Callable[[], Visit]
    """Called when a tool first needs stored data: most requests need none, and the services take time to import."""
    flow_id_of: Callable[[], str | None] = lambda: None
    """Evaluated late: a turn may store a new flow while it runs."""

    @cached_property
    def visit(self) -> Visit:
        """The request, for tools on stored data."""
        return self.make_visit()

    @property
    def flow_id(self) -> str | None:
        """Id of the stored flow."""
        return self.flow_id_of()

    async def earlier_draft(self, *, to: int, at: int | None, revision: int) -> Draft | None:
        """Return an earlier draft, for `undo`; None when the flow is not stored."""
        if self.flow_id is None:
            return None
        async with self.visit.studio.database.reading() as session:
            row = await flows.get_flow(session, self.visit.principal, self.flow_id, permission=Permission.FLOWS_EDIT)
            if revision not in {0, row.revision}:
                raise StaleRevision(sent=revision, current=row.revision)
            return await undo.earlier_draft(session, row, to=to, at=at)

    async def drafts(self, *, most: int) -> list[Draft]:
        """Return the newest drafts, the current one first."""
        if self.flow_id is None:
            return []
        async with self.visit.studio.database.reading() as session:
            return await undo.list_drafts(session, self.visit.principal, self.flow_id, limit=most)
