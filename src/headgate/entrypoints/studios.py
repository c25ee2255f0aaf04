"""The parts of an installation as the tools on stored flows take them. The toolkit is imported late: it takes time."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headgate.features.access.principal import Again, Principal
from headgate.features.catalog.own.overlay import Overlay
from headgate.graph.model import Flow
from headgate.toolkit.ports import ComponentMaker, StoredFlow

if TYPE_CHECKING:
    from headgate.entrypoints.compose import Parts


def no_maker(_principal: Principal) -> ComponentMaker | None:
    """Where components are made otherwise, or not at all."""
    return None


def studio_of(parts: "Parts", maker_of: Callable[[Principal], ComponentMaker | None] = no_maker) -> Any:  # noqa: ANN401 - `toolkit.stored.Studio`, which costs time to import
    """The parts of an installation."""

    async def catalog_of(principal: Principal, flow: Flow) -> Overlay:
        return Overlay(parts.registry, parts.index, await parts.workshop.components.own_components(principal, flow))

    server = parts.settings.server
    return _visits().Studio(
        database=parts.database,
        registry=parts.registry,
        index=parts.index,
        rules=parts.rules,
        engine=parts.engine,
        notary=parts.notary,
        runs=parts.runs,
        catalog_of=catalog_of,
        tests=parts.tests,
        files_of=parts.workspace.for_agent,
        maker_of=maker_of,
        dry_runs=parts.dry_runs,
        keys_of=lambda principal: parts.keys_of(principal, "models"),
        local=parts.local_models,
        storage=parts.storage,
        max_upload_bytes=server.max_upload_bytes,
        storage_limits=parts.services.quotas,
        box=parts.box,
        triggers=parts.trigger_transfer,
        searcher=parts.searcher,
    )


def stored_of(
    parts: "Parts", principal: Principal, flow_id_of: Callable[[], str | None], again: Again | None
) -> StoredFlow:
    """Return the stored flow of an assistant turn."""
    visits = _visits()
    stored: StoredFlow = visits.StoredDraft(lambda: visits.Visit(studio_of(parts), principal, again=again), flow_id_of)
    return stored


def _visits() -> Any:  # noqa: ANN401 - the module
    return import_module("headgate.toolkit.stored.visit")
