"""Errors of jobs."""

from headgate.foundation.errors import Conflict


class LeaseLost(Conflict):
    """The job's claim was lost: another worker claimed it, or it ended."""

    code = "lease_lost"


class JobBusy(Conflict):
    """The job cannot be claimed: another worker runs it, or it is in another state."""

    code = "job_busy"
