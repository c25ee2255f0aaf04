"""HTTP route of import reports."""

from fastapi import Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.preview.importing import ImportReport, ImportReportIn, ImportReports
from headgate.foundation.api import Routes

router = Routes(tags=["flows"])


@router.post(
    "/flows/import/report", "Inspect a file before importing it", [needs(Permission.FLOWS_EDIT)], problems=(403,)
)
async def report(body: ImportReportIn, request: Request, caller: Caller) -> ImportReport:
    """Report the code, hosts, credentials, models and tools that a file would use. Nothing is stored or executed.

    For a file that cannot be imported, `refused` gives the reason.
    """
    caller.require_somewhere(Permission.FLOWS_EDIT)
    reports = ImportReports(request.app.state.registry, request.app.state.dry_runs)
    return await reports.of(caller, body.content)
