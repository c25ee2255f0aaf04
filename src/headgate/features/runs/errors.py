"""Errors of runs, and the codes of ended runs and steps."""

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge, Unavailable

FLOW_DELETED = "flow_deleted"
FLOW_DELETED_MESSAGE = "The flow was deleted while this run was active."
WORKER_LOST = "worker_lost"
WORKER_LOST_MESSAGE = "The worker died or was unreachable while it executed this step."
RUN_STALE = "run_stale"
DEADLINE_EXCEEDED = "deadline_exceeded"
ENDS_CHILDREN = frozenset({FLOW_DELETED, DEADLINE_EXCEEDED})
"""Codes of ended runs with which the runs of their steps are cancelled."""
NEVER_BEGUN = "never_begun"
STEP_TIMEOUT = "step_timeout"
INTERNAL = "internal_error"


class RunNotFound(NotFound):
    """No such run for this tenant."""

    code = "run_not_found"
    detail = "There is no run '{}'."
    remedy = "List the runs to see their ids."


class StepNotFound(NotFound):
    """The run has no such step."""

    code = "step_not_found"

    def __init__(self, run_id: str, step_id: str) -> None:
        super().__init__(f"Run '{run_id}' has no step '{step_id}'.", remedy="Read the run to see its steps.")


class DeliveryNotFound(NotFound):
    """The run has no such delivery; without a run, no such delivery exists."""

    code = "delivery_not_found"

    def __init__(self, run_id: str | None, delivery_id: str) -> None:
        subject = f"Run '{run_id}' has" if run_id is not None else "There is"
        super().__init__(f"{subject} no delivery '{delivery_id}'.", remedy="List the deliveries to see their ids.")


class NotRedeliverable(Conflict):
    """The delivery is in progress, or must not be made."""

    code = "not_redeliverable"
    title = "Not redelivered"
    remedy = "Wait until it is delivered or has failed. Deliveries of a cancelled run or a deleted flow are not sent."

    def __init__(self, delivery_id: str, status: str) -> None:
        super().__init__(f"Delivery '{delivery_id}' is {status}; it cannot be retried.")


class RunNotOver(Conflict):
    """The operation needs a run that has ended."""

    code = "run_not_over"
    title = "Run is active"


class RunOver(Conflict):
    """The operation needs a run that has not ended."""

    code = "run_over"
    title = "Run has ended"
    remedy = "Read the run to see its result. A failed run can be resumed, and every run that is over rerun."

    def __init__(self, run_id: str, status: str) -> None:
        super().__init__(f"Run '{run_id}' is {status}: it can no longer be changed.")


class NotResumable(Conflict):
    """The run cannot be resumed: it was cancelled or completed, or its flow was deleted."""

    code = "run_not_resumable"
    title = "Run cannot be resumed"


class RunDamaged(Conflict):
    """Stored data of a run is invalid; the run cannot continue."""

    code = "run_damaged"
    remedy = "Start it again, and check whether another program writes to the database."
    detail = "The stored data of {} is damaged, so the run cannot continue."


class SourceGone(Conflict):
    """The run whose results should be reused no longer has them."""

    code = "source_run_gone"
    title = "Run results no longer available"
    remedy = "Create the rerun plan again."
    detail = "Run '{}' no longer has the results to reuse: it was changed or purged in the meantime."


class ParentGone(Conflict):
    """A step that is no longer executed wants to start a run."""

    code = "parent_step_gone"
    title = "Step no longer runs"
    remedy = "Read the parent run: it was cancelled, it failed, or another worker has the step."

    def __init__(self, run_id: str, step_id: str) -> None:
        super().__init__(f"Step '{step_id}' of run '{run_id}' no longer runs, so it cannot start another run.")


class ParentPaused(ParentGone):
    """A step of a paused run wants to start a run. It does so when its run continues."""

    code = "parent_run_paused"
    title = "Run is paused"


class SubflowFailed(Unavailable):
    """A run that a step started did not complete. Has the code of that run's error, and where it failed."""

    code = "subflow_failed"
    title = "Flow that the step runs did not complete"

    def __init__(self, code: str, message: str, *, run_id: str, flow_id: str, flow: str, step: str) -> None:
        self.inner = {"run_id": run_id, "flow_id": flow_id, "flow": flow, "step": step}
        super().__init__(message, remedy=f"See run {run_id}.", **self.inner)
        self.code = code  # type: ignore[misc]


class SubflowRefused(Forbidden):
    """The user who started the run may not run the flow that a step wants to start."""

    code = "subflow_refused"
    title = "Flow may not be run"


class InputInvalid(Invalid):
    """The input of a run does not match the flow's form."""

    code = "run_input_invalid"
    title = "Invalid run input"


class ContractBroken(Invalid):
    """A value of a step violates the step's contract. Carries `violations` with JSON paths."""

    code = "contract_broken"


class PolicyUnmet(Invalid):
    """A requirement of a step's policy is not met: a missing input, or output that is not JSON."""

    code = "policy_unmet"
    title = "Step policy violated"


class StepTimeout(Unavailable):
    """A step exceeded its time limit."""

    code = STEP_TIMEOUT
    title = "Step took too long"


class OutputTooLarge(TooLarge):
    """A step's output exceeds the size limit of an artifact."""

    code = "output_too_large"


class ClassRefused(Forbidden):
    """The classification of a step's input is not allowed for its model or destination."""

    code = "classification_refused"
    title = "Classification rejected"


class OutsideContentRefused(Forbidden):
    """Untrusted content would determine an outgoing call."""

    code = "outside_content_refused"
    title = "Rejected after content from outside"
