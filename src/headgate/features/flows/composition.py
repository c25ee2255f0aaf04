"""Extract selected steps of a flow into another flow, and inline it again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.registry import Components
from headgate.features.flows import called, repository, service, versions
from headgate.features.flows.errors import FlowNotFound, StaleRevision
from headgate.features.flows.readiness.environment import Classification
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.tables import FlowRow
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.ids import new_id
from headgate.graph import extract as extracting
from headgate.graph import inline as inlining
from headgate.graph import repeat as repeating
from headgate.graph.classification import classify
from headgate.graph.extract import Extraction
from headgate.graph.issues import FlowInvalid, Issue, IssueCode, raise_if_any
from headgate.graph.layout import keep_arranged
from headgate.graph.links import flow_reference
from headgate.graph.model import Flow
from headgate.graph.repeat import Repeat
from headgate.graph.validate import check_kept


@dataclass(frozen=True, slots=True)
class Extracted:
    """The outcome of an extraction."""

    row: FlowRow
    """The new flow."""
    extraction: Extraction


async def extract(
    session: AsyncSession,
    principal: Principal,
    rules: FlowRules,
    *,
    space_id: str,
    flow: Flow,
    node_ids: Collection[str],
    name: str,
    publish: bool,
    how: Repeat | None = None,
) -> Extracted:
    """Create a flow of the selected steps; with `publish` its first version is published.

    With `how` the new flow is repeated: for each item of a list that enters the selection, or until a condition holds.

    The flow itself is returned with the step that runs the new one, and is not saved here. Raises `FlowInvalid` with
    the reason, then nothing is created; `SpaceNotFound`, `PermissionMissing`.
    """
    flow_id = new_id()
    extraction = await prepare(
        session,
        principal,
        rules,
        space_id=space_id,
        flow=flow,
        node_ids=node_ids,
        name=name,
        flow_id=flow_id,
        how=how,
    )
    row = await service.create_flow(
        session, principal, rules.catalog, definition=extraction.extracted, space_id=space_id, flow_id=flow_id
    )
    if publish:
        await versions.publish_flow(session, principal, rules, flow_id, notes="")
    return Extracted(row, extraction)


async def prepare(
    session: AsyncSession,
    principal: Principal,
    rules: FlowRules,
    *,
    space_id: str,
    flow: Flow,
    node_ids: Collection[str],
    name: str,
    flow_id: str,
    how: Repeat | None = None,
) -> Extraction:
    """Return what `extract` makes, with the id that the new flow will have. Nothing is stored. Raises `FlowInvalid`."""
    catalog = await rules.catalog.for_flow(principal.tenant_id, flow, session=session)
    raise_if_any(check_kept(flow, catalog))
    extraction = await run_in_flow_thread(
        lambda: extracting.extract(flow, node_ids, catalog, name=name, reference=flow_id)
    )
    if how is not None:
        extraction = repeating.repeat(extraction, catalog, how)
    raise_if_any(check_kept(extraction.flow, catalog))
    environment = await rules.environment(principal.tenant_id, space_id, session=session)
    return replace(extraction, extracted=_with_class(extraction, catalog, environment.classification))


def _with_class(extraction: Extraction, catalog: Components, classification: Classification | None) -> Flow:
    """Return the new flow, which takes the classification of what reaches the step that runs it."""
    inner = extraction.extracted
    if classification is None:
        return inner
    scheme = classification.scheme
    here = classify(extraction.flow, catalog, scheme, classification.classes.of).steps[extraction.node_id].incoming
    declared = inner.settings.input_classification
    if here <= (scheme.input_class if declared is None else declared):
        return inner
    settings = inner.settings.model_copy(update={"input_classification": here})
    return inner.model_copy(update={"settings": settings})


async def inline(
    session: AsyncSession, principal: Principal, rules: FlowRules, *, space_id: str, flow: Flow, node_id: str
) -> tuple[Flow, Sequence[str]]:
    """Return the flow with the steps of the flow that a step runs, and the ids of the added nodes.

    The published version is used, or the released one that the step names; of a flow that is not published the draft.
    Raises `FlowInvalid` with the reason, `FlowNotFound`, `PermissionMissing`.
    """
    inner = await called_definition(session, principal, space_id=space_id, flow=flow, node_id=node_id)
    both = flow.model_copy(update={"nodes": (*flow.nodes, *inner.nodes)})
    catalog = await rules.catalog.for_flow(principal.tenant_id, both, session=session)
    merged = await run_in_flow_thread(inlining.inline, flow, node_id, inner, catalog)
    raise_if_any(check_kept(merged.flow, catalog))
    return keep_arranged(flow, merged.flow, catalog), merged.node_ids


async def called_definition(
    session: AsyncSession, principal: Principal, *, space_id: str, flow: Flow, node_id: str
) -> Flow:
    """Return the definition of the flow that a step runs. Raises `FlowInvalid`, `FlowNotFound`, `PermissionMissing`."""
    node = flow.node(node_id)
    reference = flow_reference(node.params.get("flow"), node.params.get("version")) if node is not None else None
    if reference is None:
        problem = f"'{node_id}' is not a step that runs a flow."
        raise FlowInvalid([Issue(IssueCode.CANNOT_MOVE, problem, "Choose a RunFlow step with a flow.", node_id)])
    links = await called.resolve(session, [reference], tenant_id=principal.tenant_id, space_id=space_id)
    link, (name, number) = links.get(reference), reference
    if link is None:
        draft = await _draft_of(session, principal, name)
        if number is not None:
            problem = f"step '{node_id}' runs version {number} of '{draft.name}', which is not released."
            remedy = "Name a released version, or no version for the published one."
            raise FlowInvalid([Issue(IssueCode.CANNOT_MOVE, problem, remedy, node_id)])
        _require_same_space(draft.name, draft.space_id, space_id, node_id)
        return service.definition_of(draft)
    principal.require_in(link.space_id, Permission.FLOWS_VIEW, FlowNotFound(link.flow_id))
    _require_same_space(link.name, link.space_id, space_id, node_id)
    row = await repository.find_version(session, link.flow_id, link.version, tenant_id=principal.tenant_id)
    if row is None:
        raise FlowNotFound(link.flow_id)
    return Flow.model_validate(row.definition)


def _require_same_space(name: str, called_space: str, space_id: str, node_id: str) -> None:
    """Raise `FlowInvalid` for a flow of another space, whose variables, connections and assistants are others."""
    if called_space != space_id:
        problem = f"step '{node_id}' runs '{name}', a flow of another space, whose variables and connections differ."
        remedy = "Keep the step that runs the flow, or export the flow and import it into this space."
        raise FlowInvalid([Issue(IssueCode.CANNOT_MOVE, problem, remedy, node_id)])


async def locked(session: AsyncSession, principal: Principal, flow_id: str, *, revision: int) -> FlowRow:
    """Return the locked row of a flow that is about to change. Raises `StaleRevision`, `FlowNotFound`."""
    row = await service.get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    if revision not in {0, row.revision}:
        raise StaleRevision(sent=revision, current=row.revision)
    return row


async def _draft_of(session: AsyncSession, principal: Principal, name: str) -> FlowRow:
    try:
        return await service.get_flow(session, principal, name)
    except FlowNotFound:
        return await service.get_flow_named(session, principal, name)
