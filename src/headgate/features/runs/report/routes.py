"""HTTP routes of audit reports, and of the version list's extra data."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.files.names import attachment
from headgate.features.runs.report.schemas import VersionFigures
from headgate.features.runs.report.service import Report, Reports
from headgate.features.runs.report.versions import figures_of_versions
from headgate.features.runs.report.words import Language
from headgate.foundation.api import ReadSession, problems
from headgate.foundation.errors import Invalid

router = APIRouter(tags=["reports"])
_ANSWERS: dict[int | str, dict[str, Any]] = {
    **problems(404, 413),
    200: {"content": {"application/pdf": {}}, "description": "The report."},
}
In = Annotated[Language, Query(description="Language of the report.")]


def _reports(request: Request) -> Reports:
    state = request.app.state
    return Reports(state.database, state.engine, state.notary, state.reports_at_work)


@router.get(
    "/flows/{flow_id}/report",
    summary="Audit report of a flow",
    response_class=Response,
    responses=_ANSWERS,
    dependencies=[needs(Permission.FLOWS_VIEW)],
)
async def of_flow(
    flow_id: str,
    request: Request,
    caller: Caller,
    version: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description=("Report of this version instead of the draft."))
    ] = None,
    run_id: Annotated[
        str | None, Query(max_length=36, description=("Report of the version that a run used, with results."))
    ] = None,
    language: In = "en",
) -> Response:
    """Return an audit report as PDF: the flow's description, diagram, form and steps, without secrets.

    With a run it needs `runs.view` too, and contains the run's results.
    """
    if version is not None and run_id is not None:
        raise Invalid("Send either 'version' or 'run_id', not both.", remedy="A run already has a version.")
    reports = _reports(request)
    if run_id is not None:
        return _pdf(await reports.of_run(caller, run_id, flow_id=flow_id, language=language))
    return _pdf(await reports.of_flow(caller, flow_id, version=version, language=language))


@router.get(
    "/flows/{flow_id}/picture",
    summary="Diagram of a flow",
    response_class=Response,
    responses={**problems(404), 200: {"content": {"image/svg+xml": {}}, "description": "The diagram."}},
    dependencies=[needs(Permission.FLOWS_VIEW)],
)
async def picture(
    flow_id: str,
    request: Request,
    caller: Caller,
    version: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description=("Report of this version instead of the draft."))
    ] = None,
    run_id: Annotated[
        str | None, Query(max_length=36, description=("Report of the version that a run used, with results."))
    ] = None,
    language: In = "en",
) -> Response:
    """Return the flow as SVG, in its canvas layout. With a run it needs `runs.view` too, and shows the results."""
    svg = await _reports(request).picture_of(caller, flow_id, version=version, run_id=run_id, language=language)
    headers = {"Content-Disposition": attachment("flow.svg"), "Cache-Control": "private, no-store"}
    return Response(svg, media_type="image/svg+xml", headers=headers)


@router.get(
    "/flow-runs/{run_id}/report",
    summary="Audit report of a run",
    response_class=Response,
    responses=_ANSWERS,
    dependencies=[needs(Permission.RUNS_VIEW)],
)
async def of_run(run_id: str, request: Request, caller: Caller, language: In = "en") -> Response:
    """Return the same PDF for the version that a run executed, with its results."""
    return _pdf(await _reports(request).of_run(caller, run_id, language=language))


@router.get(
    "/flows/{flow_id}/version-figures",
    summary="Include authors of versions, and their runs",
    responses=problems(404),
    dependencies=[needs(Permission.FLOWS_VIEW)],
)
async def version_figures(flow_id: str, session: ReadSession, caller: Caller) -> list[VersionFigures]:
    """Return the author and the number of runs of each version."""
    return await figures_of_versions(session, caller, flow_id)


def _pdf(report: Report) -> Response:
    headers = {"Content-Disposition": attachment(f"{report.name}.pdf"), "Cache-Control": "private, no-store"}
    return Response(report.content, media_type="application/pdf", headers=headers)
