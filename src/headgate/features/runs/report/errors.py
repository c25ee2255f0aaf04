"""What keeps a report from being made."""

from headgate.foundation.errors import RateLimited, TooLarge

INSTEAD = (
    "Take the flow as JSON or as a picture, which have no such limit, or move parts of it into flows of their own and "
    "make a report of each."
)


class ReportTooLarge(TooLarge):
    """The flow has more nodes than a document can hold."""

    code = "report_too_large"
    title = "Report too large"

    def __init__(self, nodes: int, most: int) -> None:
        super().__init__(f"The flow has {nodes} nodes; a report tells of at most {most}.", remedy=INSTEAD, limit=most)


class TooManyReports(RateLimited):
    """One person has as many reports being made as there may be at once."""

    code = "too_many_reports"
    title = "Too many reports at once"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"{most} reports are being made for you, and no more are made for one person at once.",
            remedy="Wait until one of them is done, and ask again.",
            limit=most,
        )
