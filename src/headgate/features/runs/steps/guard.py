"""Security classes at run time: checked again before a step works and before each model is asked.

The version was checked when it was published and when the run began. Since then a model may have been classed lower,
and a step may ask a model that its flow does not name outright.
"""

from headgate.features.runs.errors import ClassRefused
from headgate.features.runs.ports import SecurityClasses
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.recorder import Recorder
from headgate.graph.classification import Classified, ModelRef
from headgate.sdk import Model


class StepGuard:
    """The classes at one step.

    Args:
        found: The classes along the flow, as they are now.
        step_id: The step.
        override: The class that the step's policy gives its output.
        recorder: Keeps the class of what the step gives.
    """

    def __init__(self, found: Classified, step_id: str, override: int | None, recorder: Recorder) -> None:
        self._found = found
        self._step_id = step_id
        self._here = found.steps[step_id]
        self._override = override
        self._recorder = recorder
        self._given = self._here.incoming if self._here.unknown_model else self._here.output
        self._keep()

    def check_step(self) -> None:
        """Raise `ClassRefused` when the step may not work on what reaches it."""
        for issue in self._found.issues:
            if issue.node in {self._step_id, ""}:
                raise ClassRefused(str(issue), remedy=issue.remedy)

    def check_model(self, model: Model) -> None:
        """Raise `ClassRefused` when a model may not see what reaches the step. Call before it is asked anything."""
        own_address = model.params.get("base_url") is not None
        ref = ModelRef(model.provider.strip().lower().replace("-", "_"), model.name, own_address)
        trusted, name = self._found.class_of(ref), self._found.scheme.name
        if trusted < self._here.incoming:
            raise ClassRefused(
                f"Step '{self._step_id}' would ask {ref}, which may see {name(trusted)}, and what reaches it is "
                f"{name(self._here.incoming)}. The model was not asked.",
                remedy=f"Choose a model classed {name(self._here.incoming)} or higher.",
            )
        self._given = max(self._given, trusted)
        self._keep()

    def _keep(self) -> None:
        self._recorder.classification = self._given if self._override is None else self._override


async def open_guard(classes: SecurityClasses, run: ActiveRun, step_id: str, recorder: Recorder) -> StepGuard:
    """The guard of a step, which may begin. Raises `ClassRefused`."""
    found = await classes.classify(run.key.tenant_id, run.planned.flow)
    override = run.planned.steps[step_id].step.policy.output_classification_override
    guard = StepGuard(found, step_id, override, recorder)
    guard.check_step()
    return guard
