"""Errors of processes."""

from headgate.foundation.errors import Conflict, NotFound


class ProcessNotFound(NotFound):
    """No server or worker has this id."""

    code = "process_not_found"
    title = "Process not found"

    def __init__(self, process_id: str) -> None:
        super().__init__(f"No server or worker has the id '{process_id}'.", remedy="List them: headgate processes list")


class ProcessDead(Conflict):
    """A dead process works on nothing."""

    code = "process_dead"
    title = "Process is dead"

    def __init__(self, process_id: str) -> None:
        super().__init__(
            f"{process_id} is dead: its heartbeat stopped. Other processes have recovered its work.",
            remedy="Look for the reason in its log.",
        )
