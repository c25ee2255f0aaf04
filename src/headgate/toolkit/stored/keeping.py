"""Operations on flows: list, read, create, check, publish, undo, delete."""

from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.catalog.gallery import find_recipe
from headgate.features.flows import history, versions
from headgate.features.flows import service as flows
from headgate.features.flows.from_template import create_from_template
from headgate.features.flows.readiness.answer import Readiness
from headgate.features.flows.schemas import PublishIn
from headgate.features.flows.tables import FlowRow
from headgate.features.flows.undo import undo_draft
from headgate.features.triggers.transfer import TriggerTransfer
from headgate.foundation.checked import checked
from headgate.foundation.names import name_from
from headgate.foundation.quoting import shortened
from headgate.graph.model import Flow
from headgate.graph.spec import print_spec, read_spec
from headgate.toolkit.shown import refuse_redacted, shown_flow
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.shown import outline
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.tool import Revision

MOST_LISTED = 50
MOST_ISSUES = 20
_DESCRIPTION = 120


class FlowLine(TypedDict):
    """A flow in a list."""

    flow_id: str
    name: str
    description: str
    revision: int
    published_version: int | None
    diagram: str
    form: NotRequired[list[str]]
    """Id and type of each question; a flow that runs it passes answers under these ids."""


class FlowList(TypedDict):
    """Flows, newest first."""

    flows: list[FlowLine]
    more: NotRequired[str]


class Saved(TypedDict):
    """A created or changed flow."""

    flow_id: str
    name: str
    revision: int
    nodes: int
    edges: int
    issues: list[dict[str, JsonValue]]
    """What prevents a run."""
    also_created: NotRequired[list[str]]
    """Names of flows that were created and published because its steps run them."""
    notes: NotRequired[list[str]]
    """Flows that its steps run and that are not published yet, and why triggers were omitted."""


class FlowText(TypedDict):
    """A flow as text."""

    flow_id: str
    name: str
    space_id: str
    revision: int
    published_version: int | None
    spec: str
    issues: list[dict[str, JsonValue]]


class Validation(TypedDict):
    """Readiness of a flow."""

    flow_id: str
    revision: int
    runnable: bool
    """Whether it can be started."""
    issues: list[dict[str, JsonValue]]
    """What prevents a run; an issue with `severity` warning does not."""
    needs: list[dict[str, JsonValue]]
    """External requirements: variables, models, MCP servers, assistants, hosts, files; each with its `state`."""


class Published(TypedDict):
    """A published version."""

    flow_id: str
    version: int
    release: int | None
    notes: NotRequired[list[str]]
    """Where triggers that are on do not fit its form."""


class Deleted(TypedDict):
    """A deleted flow."""

    flow_id: str
    deleted: bool


class VersionLine(TypedDict):
    """A version in a list."""

    version: int
    release: int | None
    checksum: str
    created_at: str
    notes: str


class VersionList(TypedDict):
    """Versions of a flow, newest first."""

    flow_id: str
    versions: list[VersionLine]
    more: NotRequired[str]


async def list_flows(visit: Visit, query: str = "", limit: int = 10, before: str = "") -> FlowList:
    """List the accessible flows, newest first, with form and a one-line diagram. Published ones can be run by steps.

    Args:
        query: Words in the name or description; all flows when empty.
        limit: 50 at most.
        before: Id of the last flow of the previous page.
    """
    most = max(1, min(limit, MOST_LISTED))
    async with visit.studio.database.reading() as session:
        rows = await flows.list_flows(
            session, visit.principal, search=query[:200], limit=most + 1, before=before or None
        )
    page: FlowList = {"flows": [_line(visit, row) for row in rows[:most]]}
    if len(rows) > most:
        page["more"] = f"There are more: call again with before='{rows[most - 1].id}', or give a query."
    return page


async def get_flow(visit: Visit, flow_id: str) -> FlowText:
    """Read a flow as text: its nodes with their values, and its edges. Secrets are never shown.

    Args:
        flow_id: Id of the flow.
    """
    row = await visit.flow(flow_id)
    flow = flows.definition_of(row)
    return {
        "flow_id": row.id,
        "name": row.name,
        "space_id": row.space_id,
        "revision": row.revision,
        "published_version": row.published_version,
        "spec": print_spec(shown_flow(flow, await visit.catalog(flow))),
        "issues": await issues_of(visit, row),
    }


async def create_flow(visit: Visit, name: str, description: str = "", space_id: str = "") -> Saved:
    """Create an empty flow. To create one with its steps use create_flow_from_spec.

    Args:
        name: Its name.
        description: Its purpose.
        space_id: The space it belongs to; your own when empty.
    """
    return await _create(
        visit, Flow(name=name_from(name, longest=200, otherwise="Untitled"), description=description[:10_000]), space_id
    )


async def create_flow_from_spec(visit: Visit, spec: str, space_id: str = "") -> Saved:
    """Create a complete flow from text. Any error refuses it completely and is listed.

    Args:
        spec: Lines 'name:', 'description:', 'nodes:' with '  id: Type' and '    field: value', 'edges:' with
            '  a.output -> b.input'.
        space_id: The space it belongs to; your own when empty.
    """
    refuse_redacted(spec)
    return await _create(visit, read_spec(spec, await visit.catalog(Flow())), space_id)


async def create_flow_from_template(visit: Visit, template_id: str, name: str = "", space_id: str = "") -> Saved:
    """Create a flow from a template found by search_templates, and publish the flows that its steps run.

    Args:
        template_id: Id of the template.
        name: Name of the flow; the template's name when empty.
        space_id: The space it belongs to; your own when empty.
    """
    rules, recipe = visit.studio.rules, find_recipe(template_id)
    async with visit.studio.database.writing() as session:
        created = await create_from_template(
            session, visit.principal, rules, recipe, visit.studio.triggers, name=name[:200], space_id=space_id or None
        )
    also_created = [row.name for row in created.called]
    saved = await _saved(visit, created.flow)
    if also_created:
        saved["also_created"] = also_created
    if created.notes:
        saved["notes"] = list(created.notes)
    return saved


async def delete_flow(visit: Visit, flow_id: str) -> Deleted:
    """Delete a flow. Its versions and runs are kept as evidence; it can no longer run.

    Args:
        flow_id: Id of the flow.
    """
    async with visit.studio.database.writing() as session:
        await flows.delete_flow(session, visit.principal, flow_id)
    return {"flow_id": flow_id, "deleted": True}


async def validate_flow(visit: Visit, flow_id: str) -> Validation:
    """Check whether a flow can run, without running it: problems and external requirements.

    Args:
        flow_id: Id of the flow.
    """
    row = await visit.flow(flow_id)
    readiness = await readiness_of(visit, row)
    return {
        "flow_id": row.id,
        "revision": row.revision,
        "runnable": readiness.ready,
        "issues": [issue.as_json() for issue in readiness.issues[:MOST_ISSUES]],
        "needs": [need.model_dump(mode="json") for need in readiness.needs],
    }


async def publish_flow(visit: Visit, flow_id: str, notes: str = "") -> Published:
    """Publish the draft as the version that runs.

    Args:
        flow_id: Id of the flow.
        notes: What changed, for users.
    """
    body = checked(PublishIn, notes=notes)
    async with visit.studio.database.writing() as session:
        version = await versions.publish_flow(session, visit.principal, visit.studio.rules, flow_id, notes=body.notes)
        problems = await TriggerTransfer(visit.studio.sealer()).problems(session, visit.principal, flow_id)
    published: Published = {"flow_id": flow_id, "version": version.version, "release": version.release}
    return published | {"notes": problems} if problems else published


async def list_versions(visit: Visit, flow_id: str, limit: int = 10) -> VersionList:
    """List the versions of a flow, newest first.

    Args:
        flow_id: Id of the flow.
        limit: 50 at most.
    """
    most = max(1, min(limit, MOST_LISTED))
    async with visit.studio.database.reading() as session:
        rows = await history.list_versions(
            session, visit.principal, flow_id, released_only=False, limit=most + 1, before=None
        )
    page: VersionList = {
        "flow_id": flow_id,
        "versions": [
            {
                "version": row.version,
                "release": row.release,
                "checksum": row.checksum,
                "created_at": row.created_at.isoformat(),
                "notes": shortened(row.release_notes, 200),
            }
            for row in rows[:most]
        ],
    }
    if len(rows) > most:
        page["more"] = f"There are older versions. Give a larger limit, {MOST_LISTED} at most."
    return page


async def undo(visit: Visit, flow_id: str, revision: int, to: Revision = 0) -> Saved:
    """Undo the last change of a flow's draft; repeat for earlier ones. With `to`, restore any revision, also to redo.

    Args:
        flow_id: Id of the flow.
        revision: Its current revision; later changes by others are never undone.
        to: Revision to restore; read_flow lists them with part 'revisions'.
    """
    async with visit.studio.database.writing() as session:
        row = await undo_draft(session, visit.principal, visit.studio.registry, flow_id, revision=revision, to=to)
    return await _saved(visit, row)


async def _create(visit: Visit, flow: Flow, space_id: str) -> Saved:
    registry = visit.studio.registry
    async with visit.studio.database.writing() as session:
        row = await flows.create_flow(session, visit.principal, registry, definition=flow, space_id=space_id or None)
    return await _saved(visit, row)


async def _saved(visit: Visit, row: FlowRow) -> Saved:
    flow = flows.definition_of(row)
    return {
        "flow_id": row.id,
        "name": row.name,
        "revision": row.revision,
        "nodes": len(flow.nodes),
        "edges": len(flow.edges),
        "issues": await issues_of(visit, row) if flow.nodes else [],
    }


async def readiness_of(visit: Visit, row: FlowRow) -> Readiness:
    """Return whether the draft of a flow can run."""
    return await visit.studio.rules.check(row.tenant_id, row.space_id, flows.definition_of(row))


async def issues_of(visit: Visit, row: FlowRow) -> list[dict[str, JsonValue]]:
    """Return what prevents the draft of a flow from running, truncated if long."""
    return [issue.as_json() for issue in (await readiness_of(visit, row)).issues[:MOST_ISSUES]]


def _line(visit: Visit, row: FlowRow) -> FlowLine:
    description = row.description
    flow = flows.definition_of(row)
    line: FlowLine = {
        "flow_id": row.id,
        "name": row.name,
        "description": description if len(description) <= _DESCRIPTION else description[:_DESCRIPTION] + " ...",
        "revision": row.revision,
        "published_version": row.published_version,
        "diagram": outline(flow, visit.studio.registry),
    }
    if flow.form:
        line["form"] = [f"{field.id}: {field.type}{', required' if field.required else ''}" for field in flow.form]
    return line


OPERATIONS: tuple[Row, ...] = (
    (list_flows, Permission.FLOWS_VIEW, "read"),
    (get_flow, Permission.FLOWS_VIEW, "read"),
    (create_flow, Permission.FLOWS_EDIT, "add"),
    (create_flow_from_spec, Permission.FLOWS_EDIT, "add"),
    (create_flow_from_template, Permission.FLOWS_EDIT, "add"),
    (delete_flow, Permission.FLOWS_EDIT, "remove"),
    (validate_flow, Permission.FLOWS_VIEW, "read"),
    (publish_flow, Permission.FLOWS_PUBLISH, "set"),
    (list_versions, Permission.FLOWS_VIEW, "read"),
    (undo, Permission.FLOWS_EDIT, "remove"),
)
