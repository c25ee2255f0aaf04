"""What can go wrong with a job."""

from headgate.foundation.errors import Conflict


class LeaseLost(Conflict):
    """The job is no longer this worker's: another worker claimed it, or it was ended."""

    code = "lease_lost"
    title = "Lease lost"


class JobBusy(Conflict):
    """The job cannot be claimed now: somebody works on it, or it is not in the state that was asked for."""

    code = "job_busy"
    title = "Job busy"
