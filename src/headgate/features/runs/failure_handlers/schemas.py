"""Response on the handler of a failed run."""

from pydantic import BaseModel, ConfigDict

from headgate.features.runs.failure_handlers.values import HandlerStatus


class HandlerLinkOut(BaseModel):
    """The other run: the handler of a failure, or the failed run."""

    model_config = ConfigDict(from_attributes=True)

    run_id: str
    flow_id: str | None
    """Its flow; null for a handler that was not started."""
    status: HandlerStatus
    """`due`: about to be started; `refused`: it was not started, see `problem`."""
    problem: str | None


class FailureHandlingOut(BaseModel):
    """How a run is linked to the handler of its failure, and to the run whose failure it handles."""

    handler: HandlerLinkOut | None
    """The run that was started because this one failed."""
    handles: HandlerLinkOut | None
    """The failed run that this one was started for."""
