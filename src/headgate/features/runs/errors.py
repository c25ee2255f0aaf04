"""Errors of runs, and the codes with which runs and steps end."""

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge, Unavailable

FLOW_DELETED = "flow_deleted"
FLOW_DELETED_MESSAGE = "The flow was deleted while this run was under way."
WORKER_LOST = "worker_lost"
WORKER_LOST_MESSAGE = "The worker died or was out of reach while it was at this step."
RUN_STALE = "run_stale"
NEVER_BEGUN = "never_begun"
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


class DeliveryNotFound(NotFound):
    """The run has no such delivery, or, without a run, there is none."""

    code = "delivery_not_found"
    title = "Delivery not found"

    def __init__(self, run_id: str | None, delivery_id: str) -> None:
        where = f"Run '{run_id}' has" if run_id is not None else "There is"
        super().__init__(f"{where} no delivery '{delivery_id}'.", remedy="List the deliveries to see their ids.")


class NotRedeliverable(Conflict):
    """A delivery that is under way, or that must not be made."""

    code = "not_redeliverable"
    title = "Not delivered again"

    def __init__(self, delivery_id: str, status: str) -> None:
        super().__init__(
            f"Delivery '{delivery_id}' is {status}; it is not sent again.",
            remedy="Wait until it is delivered or has failed; of a cancelled run or deleted flow nothing is sent.",
        )


class RunIsOver(Conflict):
    """The run ended; what was asked for needs one that has not."""

    code = "run_is_over"
    title = "The run is over"


class RunNotOver(Conflict):
    """The run is still under way; what was asked for needs one that has ended."""

    code = "run_not_over"
    title = "The run is under way"


class NotResumable(Conflict):
    """The run cannot go on: it was cancelled, it is completed, or its flow was deleted."""

    code = "run_not_resumable"
    title = "The run cannot be resumed"


class RunDamaged(Conflict):
    """What is stored of a run is not what Headgate stores; it cannot go on."""

    code = "run_damaged"
    title = "Run damaged"

    def __init__(self, part: str) -> None:
        super().__init__(
            f"What is stored of {part} is damaged, so the run cannot go on.",
            remedy="Start it again, and look for what writes to the database beside Headgate.",
        )


class SourceGone(Conflict):
    """A run whose results were to be taken over has them no more."""

    code = "source_run_gone"
    title = "The run's results are gone"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run '{run_id}' no longer has the results that were to be taken over: it was changed or purged meanwhile.",
            remedy="Plan the rerun again.",
        )


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


class ClassRefused(Forbidden):
    """What reaches a step is of a class that its model may not see, or that may not leave."""

    code = "classification_refused"
    title = "Security class refused"


class OutsideContentRefused(Forbidden):
    """Content from outside would decide on a call that leaves the installation."""

    code = "outside_content_refused"
    title = "Refused after content from outside"
