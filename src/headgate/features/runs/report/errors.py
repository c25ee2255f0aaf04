"""Errors of reports."""

from headgate.foundation.errors import RateLimited, TooLarge

INSTEAD = (
    "Export the flow as JSON or as a diagram, which have no such limit, or split the flow and create a "
    "report of each part."
)


class ReportTooLarge(TooLarge):
    """The flow has more nodes than a report can contain."""

    code = "report_too_large"

    def __init__(self, nodes: int, most: int) -> None:
        super().__init__(f"The flow has {nodes} nodes; a report covers at most {most}.", remedy=INSTEAD, limit=most)


class TooManyReports(RateLimited):
    """The user has reached the limit of concurrent reports."""

    code = "too_many_reports"
    title = "Too many reports at once"
    remedy = "Wait until one is finished, and try again."

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} reports are already being created for you, the maximum per user.", limit=most)
