"""Flows that steps of other flows run: which there are, and the checks before a flow that runs one is frozen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import repository
from headgate.features.flows.tables import FlowVersionRow
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.links import FlowLink, FlowReference, targets_of
from headgate.graph.model import FILE_FIELD_TYPES, Flow

MOST_FLOWS = 2000
"""Published flows of a tenant that steps may name."""
MOST_DEPTH = 8
"""How deep flows may run each other."""


@dataclass(frozen=True, slots=True)
class PublishedFlows:
    """Published flows by id and name; of several with a name the newest, those of the own space first."""

    by_name: Mapping[str, FlowLink]

    def named(self, references: Iterable[FlowReference]) -> dict[FlowReference, FlowLink]:
        """Return the flows of references; unknown ones are omitted. Numbers of versions are not checked."""
        links: dict[FlowReference, FlowLink] = {}
        for name, version in references:
            flow = self.by_name.get(name) or self.by_name.get(name.lower())
            if flow is not None:
                links[name, version] = flow if version is None else replace(flow, version=version)
        return links


async def published_flows(session: AsyncSession, *, tenant_id: str, space_id: str) -> PublishedFlows:
    """Read the published flows of a tenant, as the flows of a space name them."""
    rows = await repository.list_published_names(session, tenant_id=tenant_id, limit=MOST_FLOWS)
    by_name: dict[str, FlowLink] = {}
    for row in sorted(rows, key=lambda row: row.space_id != space_id):
        if row.published_version is None:
            continue
        published = FlowLink(row.id, row.published_version, row.name, row.space_id)
        by_name.setdefault(row.name.lower(), published)
        by_name[row.id] = published
    return PublishedFlows(by_name)


async def resolve(
    session: AsyncSession, references: Sequence[FlowReference], *, tenant_id: str, space_id: str
) -> dict[FlowReference, FlowLink]:
    """Return the published versions that references name, with the fields of their forms."""
    if not references:
        return {}
    published = await published_flows(session, tenant_id=tenant_id, space_id=space_id)
    links: dict[FlowReference, FlowLink] = {}
    for reference, link in published.named(references).items():
        row = await repository.find_version(session, link.flow_id, link.version, tenant_id=tenant_id)
        if row is not None and row.release is not None:
            form = Flow.model_validate(row.definition).form
            files = tuple(field.id for field in form if field.type in FILE_FIELD_TYPES)
            links[reference] = replace(link, fields=tuple(field.id for field in form), file_fields=files)
    return links


def runnable(principal: Principal, links: Mapping[FlowReference, FlowLink]) -> dict[FlowReference, FlowLink]:
    """Return the flows that the caller may run."""
    return {reference: link for reference, link in links.items() if principal.may(Permission.RUNS_START, link.space_id)}


async def recursion_issues(
    session: AsyncSession,
    flow_id: str,
    places: Mapping[tuple[str, str], FlowReference],
    links: Mapping[FlowReference, FlowLink],
    *,
    tenant_id: str,
) -> list[Issue]:
    """Return steps that would run their own flow again, through others or directly, or run flows too deep."""
    issues: list[Issue] = []
    for (node_id, field), reference in places.items():
        link = links.get(reference)
        if link is None:
            continue
        path = await _path_to(session, flow_id, link, tenant_id=tenant_id)
        if path:
            problem = f"step '{node_id}' runs '{link.name}', which leads back to this flow: {' -> '.join(path)}."
            remedy = "Remove the step that runs this flow, or use Loop to repeat a flow."
        elif await _depth(session, link, tenant_id=tenant_id) >= MOST_DEPTH:
            problem = f"step '{node_id}' runs '{link.name}', whose flows run others more than {MOST_DEPTH} deep."
            remedy = "Let fewer flows run each other."
        else:
            continue
        issues.append(Issue(IssueCode.CYCLE, problem, remedy, node_id, field))
    return issues


async def _path_to(session: AsyncSession, flow_id: str, link: FlowLink, *, tenant_id: str) -> list[str]:
    """Return the names of flows from one to the flow that it runs again; empty when it does not."""
    seen: set[tuple[str, int]] = set()
    waiting: list[tuple[str, int, list[str]]] = [(link.flow_id, link.version, [])]
    while waiting:
        called, version, before = waiting.pop()
        if (called, version) in seen:
            continue
        seen.add((called, version))
        row = await repository.find_version(session, called, version, tenant_id=tenant_id)
        path = [*before, "this flow" if called == flow_id else _name(row)]
        if called == flow_id:
            return path
        waiting += [(*target, path) for target in _targets(row)]
    return []


async def _depth(session: AsyncSession, link: FlowLink, *, tenant_id: str) -> int:
    """Return how many flows run each other below a flow, itself included; at most one more than the limit."""
    level = [(link.flow_id, link.version)]
    depth = 0
    while level and depth <= MOST_DEPTH:
        depth += 1
        rows = [await repository.find_version(session, *target, tenant_id=tenant_id) for target in level]
        level = list(dict.fromkeys(target for row in rows for target in _targets(row)))
    return depth


def _targets(row: FlowVersionRow | None) -> list[tuple[str, int]]:
    return [] if row is None else targets_of(Flow.model_validate(row.definition))


def _name(row: FlowVersionRow | None) -> str:
    return "" if row is None else str(row.definition.get("name", ""))
