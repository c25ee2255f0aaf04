"""Collects the subject of an audit report and renders it as a PDF."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.repository import find_user
from headgate.features.flows import history, versions
from headgate.features.flows import service as flows
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.models.setup.prices import prices_of
from headgate.features.runs import repository
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.evidence.masking import Mask
from headgate.features.runs.evidence.service import Notary
from headgate.features.runs.permitted import find_run
from headgate.features.runs.report.errors import INSTEAD, ReportTooLarge, TooManyReports
from headgate.features.runs.report.figures import took
from headgate.features.runs.report.pages import DIAGRAM, report
from headgate.features.runs.report.subject import Frozen, Ran, Subject
from headgate.features.runs.report.words import WORDS, Language
from headgate.features.runs.reruns.costs import cost_of, total
from headgate.features.runs.schemas import ClassOut, GraphNode, GraphOut
from headgate.features.runs.terms import terms_of
from headgate.features.runs.transitions import clock
from headgate.features.runs.views.drawing import draw
from headgate.features.runs.views.graph import graph_of_draft, graph_of_run
from headgate.features.runs.views.runs import class_view
from headgate.foundation.at_once import AtOnce
from headgate.foundation.database import Database, now
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.links import effective
from headgate.graph.model import Flow
from headgate.graph.picture import Shown, picture
from headgate.graph.wiring import wire
from headgate.sandbox.documents.errors import DocumentNotMade, DocumentTimedOut, DocumentTooLarge
from headgate.sandbox.documents.job import Job
from headgate.sandbox.documents.maker import make_document, require_installed

COLUMNS = 3
"""Parallel steps per row of the diagram, so that names stay readable."""
MOST_NODES = 2_000
"""Most nodes in a report: some 700 pages and a dozen seconds of CPU time."""
MOST_OF_A_PERSON = 2
"""Most concurrent reports of one user: each uses a CPU core while others wait."""


def reports_at_work() -> AtOnce:
    """Return the number of reports in progress by user; shared by the process."""
    return AtOnce(MOST_OF_A_PERSON, TooManyReports)


@dataclass(frozen=True, slots=True)
class Report:
    """A finished report."""

    name: str
    """File name without its extension."""
    content: bytes


@dataclass(frozen=True, slots=True)
class Reports:
    """Makes audit reports with the services of one installation."""

    database: Database
    engine: ExecutionBackend
    notary: Notary
    at_work: AtOnce = field(default_factory=reports_at_work)

    async def of_flow(
        self, principal: Principal, flow_id: str, *, version: int | None = None, language: Language = "en"
    ) -> Report:
        """Make the report of the draft, or of a version.

        Raises `FlowNotFound`, `VersionNotFound`, `PermissionMissing`, `ReportTooLarge`, `TooManyReports`, what
        documents raises, and `DocumentsNotInstalled`.
        """
        require_installed("An audit report")
        with self._at_work(principal):
            async with self.database.reading() as session:
                subject = await self._flow(session, principal, flow_id, version, language)
            return await _set(subject)

    async def of_run(
        self, principal: Principal, run_id: str, *, flow_id: str | None = None, language: Language = "en"
    ) -> Report:
        """Make the report of the version that a run executed, with its results.

        Raises `RunNotFound`, also for a run of another flow, and otherwise as `of_flow`.
        """
        require_installed("An audit report")
        with self._at_work(principal):
            async with self.database.reading() as session:
                subject = await self._run(session, principal, run_id, flow_id, language)
            return await _set(subject)

    def _at_work(self, principal: Principal) -> AbstractContextManager[None]:
        return self.at_work.held(f"{principal.tenant_id}/{principal.user_id}")

    async def picture_of(
        self,
        principal: Principal,
        flow_id: str,
        *,
        version: int | None = None,
        run_id: str | None = None,
        language: Language = "en",
    ) -> str:
        """Return the diagram in its canvas layout as SVG; for a run with the result of each step.

        Raises `FlowNotFound`, `VersionNotFound`, `RunNotFound`, `PermissionMissing`.
        """
        async with self.database.reading() as session:
            if run_id is not None:
                subject = await self._run(session, principal, run_id, flow_id, language)
            else:
                subject = await self._flow(session, principal, flow_id, version, language)
        return await run_in_flow_thread(drawing_of, subject, columns=None)

    async def _flow(
        self, session: AsyncSession, principal: Principal, flow_id: str, version: int | None, language: Language
    ) -> Subject:
        row = await flows.get_flow(session, principal, flow_id)
        mask = Mask(await self.notary.secret_values(session, principal, row.space_id), {})
        if version is None:
            graph = await graph_of_draft(session, self.engine, principal, flow_id)
            flow = await versions.draft_as_it_runs(session, self.engine.services.components, row)
            return await self._subject(session, row, flow, graph, mask=mask, language=language)
        frozen = await history.get_version(session, principal, flow_id, version)
        flow = effective(Flow.model_validate(frozen.definition))
        catalog = await self.engine.services.components.for_flow(row.tenant_id, flow, session=session)
        graph = draw(flow, catalog, flow_id=flow_id, version=version, classes=await self._classes(principal, flow))
        return await self._subject(session, row, flow, graph, mask=mask, language=language, frozen=frozen)

    async def _classes(self, principal: Principal, flow: Flow) -> dict[str, ClassOut]:
        guard = self.engine.services.classes
        if guard is None:
            return {}
        steps = (await guard.classify(principal.tenant_id, flow)).steps
        return {
            step: view
            for step, step_classes in steps.items()
            if (view := class_view(step_classes.output, guard.scheme))
        }

    async def _run(
        self, session: AsyncSession, principal: Principal, run_id: str, flow_id: str | None, language: Language
    ) -> Subject:
        run = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
        if flow_id is not None and run.flow_id != flow_id:
            raise RunNotFound(run_id)
        row = await flows.get_flow_ever(session, principal, run.flow_id, permission=Permission.RUNS_VIEW)
        frozen = await history.get_version(
            session, principal, run.flow_id, run.version, permission=Permission.RUNS_VIEW
        )
        graph = await graph_of_run(session, self.engine, principal, run.flow_id, run_id)
        package = await self.notary.package(session, principal, run_id)
        steps = await repository.list_steps(session, run_id, tenant_id=principal.tenant_id)
        setup = await prices_of(session, row.tenant_id)
        costs = {step.step_id: cost_of(step, setup) for step in steps}
        user = await find_user(session, run.user_id, tenant_id=row.tenant_id) if run.user_id else None
        accounts, at = terms_of(run.terms).budgets, run.finished_at or clock()
        ran = Ran(
            entry=package["run"],
            steps={str(step["step_id"]): step for step in package["step_results"]},
            seal={"head": package["seal"].get("head"), "key_id": package["seal"].get("key_id")},
            started_by=user.name if user is not None else run.user_id or "",
            costs=costs,
            total=total([cost for cost in costs.values() if cost.ms is not None]),
            budgets=await self.engine.services.budgets.read(row.tenant_id, accounts, at),
        )
        mask = Mask(
            await self.notary.secret_values(session, principal, row.space_id), _private(frozen, run.input_payload)
        )
        flow = effective(Flow.model_validate(frozen.definition))
        return await self._subject(session, row, flow, graph, mask=mask, language=language, frozen=frozen, ran=ran)

    async def _subject(
        self,
        session: AsyncSession,
        row: FlowRow,
        flow: Flow,
        graph: GraphOut,
        *,
        mask: Mask,
        language: Language,
        frozen: FlowVersionRow | None = None,
        ran: Ran | None = None,
    ) -> Subject:
        components = await self.engine.services.components.for_flow(row.tenant_id, flow, session=session)
        creator = row.created_by_user_id
        author = await find_user(session, creator, tenant_id=row.tenant_id) if creator else None
        return Subject(
            flow_id=row.id,
            revision=row.revision,
            creator=author.name if author is not None else "",
            created_at=row.created_at,
            updated_at=row.updated_at,
            printed_at=now(),
            wiring=wire(flow, components),
            nodes={node.id: node for node in graph.nodes},
            mask=mask,
            language=language,
            frozen=None if frozen is None else _frozen(frozen),
            ran=ran,
        )


def drawing_of(subject: Subject, columns: int | None = COLUMNS) -> str:
    """Return the diagram: with a new layout that fits a page, or in its canvas layout with notes and groups."""
    labels, mask = subject.words, subject.mask
    results: dict[str, Shown] = {}
    for key, node in subject.nodes.items():
        chip = f"K{node.classification.level}" if node.classification is not None else ""
        results[key] = Shown(chip=chip) if node.run is None else Shown(node.run.status, _detail(node, labels), chip)
    flow = subject.wiring.flow
    nodes = tuple(
        node.model_copy(update={"label": mask.text(node.label)})
        for node in flow.nodes
        if columns is None or node.id not in subject.wiring.notes
    )
    title = mask.text(flow.name) if columns is None else ""
    return picture(
        flow.model_copy(update={"nodes": nodes}), _Known(subject), shown=results, columns=columns, title=title
    )


class _Known:
    """The known templates of a report, as a catalog."""

    def __init__(self, subject: Subject) -> None:
        wiring = subject.wiring
        self._found = {
            wiring.nodes[key].type: template for key, template in wiring.templates.items() if template is not None
        }

    def types(self) -> list[str]:
        """Return all types."""
        return sorted(self._found)

    def template(self, type_: str, params: Any = None) -> Any:  # noqa: ANN401, ARG002 - as catalogues have it
        """Return the template of a type."""
        return self._found.get(type_)

    def code(self, type_: str) -> str | None:  # noqa: ARG002 - as catalogues have it
        """Return None: drawing needs no source."""
        return None


def _detail(node: GraphNode, labels: Any) -> str:  # noqa: ANN401
    run = node.run
    if run is None:
        return ""
    if run.error is not None:
        return run.error.message
    spent = (run.tokens_input or 0) + (run.tokens_output or 0)
    details = [str(labels.get(run.status, run.status)), took(run.ms).replace("\\", "")]
    return ", ".join(part for part in [*details, f"{spent} tokens" if spent else ""] if part)


async def _set(subject: Subject) -> Report:
    """Render the document in a thread: writing and drawing a large flow take seconds."""
    if (nodes := len(subject.wiring.flow.nodes)) > MOST_NODES:
        raise ReportTooLarge(nodes, MOST_NODES)
    job = await run_in_flow_thread(_job, subject)
    try:
        document = await make_document(job)
    except (DocumentTooLarge, DocumentTimedOut, DocumentNotMade) as error:
        raise type(error)(error.detail, remedy=INSTEAD) from error
    return Report(job.name, document.content)


def _job(subject: Subject) -> Job:
    title = WORDS[subject.language]["title"]
    name = f"{title} {subject.wiring.flow.name}"
    if subject.frozen is not None:
        name += f" v{subject.frozen.version}"
    return Job(
        report(subject),
        "pdf",
        title=f"{title}: {subject.mask.text(subject.wiring.flow.name)}",
        name=name,
        language=subject.language,
        drawings={DIAGRAM: drawing_of(subject)},
    )


def _private(frozen: FlowVersionRow, run_input: dict[str, Any]) -> dict[str, Any]:
    private_ids = {field["id"] for field in frozen.definition.get("form", ()) if field.get("private")}
    return {name: answer for name, answer in (run_input.get("form_data") or {}).items() if name in private_ids}


def _frozen(row: FlowVersionRow) -> Frozen:
    return Frozen(
        version=row.version,
        checksum=row.checksum,
        logic_checksum=row.logic_checksum,
        headgate_version=row.headgate_version,
        made_at=row.created_at,
        release=row.release,
        released_at=row.released_at,
        notes=row.release_notes,
    )
