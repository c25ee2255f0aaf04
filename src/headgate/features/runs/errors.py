"""Errors of runs, and the codes with which runs and steps end."""

from headgate.foundation.errors import Conflict, Invalid, NotFound, TooLarge, Unavailable

FLOW_DELETED = "flow_deleted"
FLOW_DELETED_MESSAGE = "The flow was deleted while this run was under way."
WORKER_LOST = "worker_lost"
STEP_TIMEOUT = "step_timeout"
INTERNAL = "internal_error"


class RunNotFound(NotFound):
    """No such run for this tenant."""

    code = "run_not_found"
    title = "Run not found"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"There is no run '{run_id}'.", remedy="List the runs to see their ids.")


class StepNotFound(NotFound):
    """The run has no such step."""

    code = "step_not_found"
    title = "Step not found"

    def __init__(self, run_id: str, step_id: str) -> None:
        super().__init__(f"Run '{run_id}' has no step '{step_id}'.", remedy="Read the run to see its steps.")


class RunIsOver(Conflict):
    """The run ended; what was asked for needs one that has not."""

    code = "run_is_over"
    title = "The run is over"


class InputInvalid(Invalid):
    """What a run was to be started with does not fit the flow's form."""

    code = "run_input_invalid"
    title = "Run input does not fit"


class ContractBroken(Invalid):
    """A value of a step does not keep the step's contract. Carries `violations` with JSON paths."""

    code = "contract_broken"
    title = "Contract broken"


class PolicyUnmet(Invalid):
    """What a step's policy asks for cannot be had: an input that is not there, an output that is not JSON."""

    code = "policy_unmet"
    title = "Step policy not met"


class StepTimeout(Unavailable):
    """A step worked longer than it may."""

    code = STEP_TIMEOUT
    title = "Step took too long"


class OutputTooLarge(TooLarge):
    """A step made more than an artifact may hold."""

    code = "output_too_large"
    title = "Output too large"


class NotOffered(Invalid):
    """A step policy asks for something this installation does not do."""

    code = "policy_not_offered"
    title = "Policy not offered"
