"""The graph endpoint: selects the definition to draw and its results."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import history, versions
from headgate.features.flows import service as flows
from headgate.features.runs import repository
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.permitted import find_run
from headgate.features.runs.schemas import GraphOut
from headgate.features.runs.service import plan_of
from headgate.features.runs.steps.payloads import intact
from headgate.features.runs.views import runs as views
from headgate.features.runs.views.drawing import draw
from headgate.graph.model import Flow


async def graph_of_draft(
    session: AsyncSession, engine: ExecutionBackend, principal: Principal, flow_id: str
) -> GraphOut:
    """Return the draft as a graph. Raises `FlowNotFound`, `PermissionMissing`."""
    row = await flows.get_flow(session, principal, flow_id)
    flow, guard = flows.definition_of(row), engine.services.classes
    classes = {}
    if guard is not None:
        running = await versions.draft_as_it_runs(session, engine.services.components, row)
        steps = (await guard.classify(principal.tenant_id, running)).steps
        classes = {
            step: view
            for step, step_view in steps.items()
            if (view := views.class_view(step_view.output, guard.scheme))
        }
    catalog = await engine.services.components.for_flow(row.tenant_id, flow, session=session)
    return draw(flow, catalog, flow_id=row.id, classes=classes)


async def graph_of_run(
    session: AsyncSession, engine: ExecutionBackend, principal: Principal, flow_id: str, run_id: str
) -> GraphOut:
    """Return the version a run is pinned to, with step outcomes. Raises `RunNotFound`, also for another flow's run."""
    row = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    if row.flow_id != flow_id:
        raise RunNotFound(run_id)
    version = await history.get_version(session, principal, flow_id, row.version, permission=Permission.RUNS_VIEW)
    steps = await repository.list_steps(session, run_id, tenant_id=principal.tenant_id)
    planned = await plan_of(engine, row)
    labels, limits = views.labels_of(planned), views.attempts_allowed(planned)
    scheme = engine.services.classes.scheme if engine.services.classes is not None else None
    with intact("this run"):
        outputs = {step.step_id: step.output_payload["outputs"] for step in steps if step.output_payload}
    flow = Flow.model_validate(version.definition)
    return draw(
        flow,
        await engine.services.components.for_flow(row.tenant_id, flow, session=session),
        flow_id=flow_id,
        version=row.version,
        run_id=run_id,
        steps={step.step_id: views.step_summary(step, labels, views.pinned_of(row), limits) for step in steps},
        outputs=outputs,
        classes={
            step.step_id: view for step in steps if (view := views.class_view(step.classification, scheme)) is not None
        },
    )
