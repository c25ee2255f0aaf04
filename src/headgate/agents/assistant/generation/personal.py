"""Custom components of users: stored by the tenant, registered in the user's workspace, used by that user's requests.

The workspace holds the source, `.components/<ClassName>.py` (seed 000, ADR-MCP-024); the sandbox's results for
it is known by its hash (`features.catalog.own`). A file whose code was never checked is not a component.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.catalog.own.checked import CheckedComponent, code_hash
from headgate.features.catalog.own.store import keep_component, known_components, pack_components
from headgate.features.catalog.registry import Registry
from headgate.features.workspace.components import (
    MAX_CLASS_NAME_LENGTH,
    MAX_COMPONENT_SOURCE_BYTES,
    clear_components,
    read_components,
    register_component,
)
from headgate.features.workspace.errors import UserComponentError, UserRequired, WorkspaceUnavailable
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.database import Database
from headgate.foundation.log import get_logger
from headgate.graph.model import TYPE_PATTERN, Flow

log = get_logger(__name__)

TYPE_NAME = re.compile(TYPE_PATTERN)
"""Valid names of component types."""
MAX_COMPONENTS = 100
"""Most components registered per user: each request reads them all."""


@dataclass(frozen=True, slots=True)
class PersonalComponents:
    """Stores, reads and deletes a user's components. No argument can name another user."""

    database: Database
    workspace: Workspace
    registry: Registry
    """The components that came with Headgate and that the operator installed: their names are taken."""
    metrics: AssistantMetrics = field(default_factory=AssistantMetrics)

    async def keep(self, principal: Principal, made: CheckedComponent) -> str:
        """Store a component that passed, replacing an earlier one of the same name.

        Returns:
            Why later requests will not find it; empty when they will. This request can use it either way.

        Raises:
            UserComponentError: The disk refused.
        """
        refused = await self._register(principal, made)
        if TYPE_NAME.fullmatch(made.type) is None:
            return refused
        async with self.database.writing() as session:
            await keep_component(session, principal, made)
            if not refused:
                await record(session, principal, "component.registered", id=made.code_hash, name=made.type)
        if not refused:
            self.metrics.component_registered()
        return refused

    async def own_components(self, principal: Principal, flow: Flow | None = None) -> tuple[CheckedComponent, ...]:
        """Return the components that this user's request may use besides the registry: for `Overlay`. Executes nothing.

        Those of installed packs, then the user's registered ones, and after them those whose code the flow carries: in
        one flow one type has one code, and of two with one name the last is used. Broken and unsafe files are skipped;
        so is code that was never checked here, and code with the name of a component that came with Headgate.
        Two queries.
        """
        files = dict(self._unshadowed(await self._files(principal)))
        carried = [node.code for node in flow.nodes if node.code is not None] if flow is not None else []
        async with self.database.reading() as session:
            known = await known_components(session, [*files.values(), *carried], tenant_id=principal.tenant_id)
            packed = await pack_components(session)
        by_hash = {component.code_hash: component for component in known}
        mine = [
            component
            for name, code in files.items()
            if (component := by_hash.get(code_hash(code))) and component.type == name
        ]
        for _ in range(len(files) - len(mine)):
            self.metrics.overlay_skipped("unchecked")
        self.metrics.overlay_read(len(mine))
        return (*packed, *mine, *(component for code in carried if (component := by_hash.get(code_hash(code)))))

    async def clear(self, principal: Principal) -> int:
        """Delete the user's components. Returns how many there were. Flows that use one keep its code."""
        try:
            cleared = await clear_components(self.workspace.for_agent(principal))
        except UserRequired:
            return 0
        if cleared:
            async with self.database.writing() as session:
                await record(
                    session, principal, "component.cleared", id=principal.user_id, payload={"components": cleared}
                )
        return cleared

    async def _register(self, principal: Principal, made: CheckedComponent) -> str:
        """Return why it was not registered. Errors of the input are returned, errors of the disk are raised."""
        files = await self._files(principal)
        if len(files) >= MAX_COMPONENTS and made.type not in files:
            self.metrics.component_refused("too_many")
            return f"At most {MAX_COMPONENTS} components can be stored. Start a new session to remove them."
        try:
            await register_component(self.workspace.for_agent(principal), made.type, made.code)
        except UserComponentError as error:
            if isinstance(error.__cause__, OSError | WorkspaceUnavailable):
                raise
            reason = refusal_reason(error, made.type, made.code)
            self.metrics.component_refused(reason)
            log.warning("assistant.user_component.refused", reason=reason, class_name=made.type[:MAX_CLASS_NAME_LENGTH])
            return str(error)
        return ""

    async def _files(self, principal: Principal) -> Mapping[str, str]:
        try:
            return await read_components(self.workspace.for_agent(principal))
        except UserRequired:
            return {}
        except (OSError, WorkspaceUnavailable):
            log.exception("assistant.user_component.unreadable")
            self.metrics.overlay_skipped("read_error")
            return {}

    def _unshadowed(self, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        taken = frozenset(self.registry.types())
        for name, code in files.items():
            if name in taken:
                log.warning("assistant.user_component.shadowed", class_name=name)
                self.metrics.overlay_skipped("shadowed")
            else:
                yield name, code


def refusal_reason(error: UserComponentError, class_name: str, code: str) -> str:
    """Return the metric label of a refusal."""
    if isinstance(error.__cause__, UserRequired):
        return "anonymous_user"
    if not class_name.strip():
        return "empty_class_name"
    if len(class_name) > MAX_CLASS_NAME_LENGTH:
        return "length_exceeded"
    if len(code.encode(errors="replace")) > MAX_COMPONENT_SOURCE_BYTES:
        return "oversize_code"
    return "workspace_full" if error.__cause__ is not None else "unsafe_class_name"
