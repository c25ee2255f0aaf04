"""The HTTP route of reports on files that would be imported."""

from fastapi import APIRouter, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.preview.importing import ImportReport, ImportReportIn, ImportReports
from headgate.foundation.api import problems

router = APIRouter(tags=["flows"])


@router.post(
    "/flows/import/report",
    summary="Look into a file before importing it",
    responses=problems(403),
    dependencies=[needs(Permission.FLOWS_EDIT)],
)
async def report(body: ImportReportIn, request: Request, caller: Caller) -> ImportReport:
    """The code, hosts, credentials, models and tools that a file would use. Nothing of it is stored or executed.

    A file that cannot be imported is answered with the reason, as `refused`.
    """
    caller.require_somewhere(Permission.FLOWS_EDIT)
    reports = ImportReports(request.app.state.registry, request.app.state.dry_runs)
    return await reports.of(caller, body.content)
