"""Classifications at run time: checked again before a step runs and before each model call.

The version was checked when it was published and when the run started. Since then a model may have been classified
lower, and a step may call a model that its flow does not name literally.
"""

from collections.abc import Awaitable, Callable, Collection

from headgate.features.runs.errors import ClassRefused
from headgate.features.runs.ports.flows import SecurityClasses
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.recorder import Recorder
from headgate.graph.classification import Classified, ModelRef, Observed
from headgate.graph.model import Flow
from headgate.sdk import Model


class StepGuard:
    """Checks the classifications of one step.

    Args:
        classified: Current classifications of the flow.
        step_id: The step.
        override: The classification that the step's policy assigns to its output.
        recorder: Records the classification of the step's output.
        reclassify: Returns the classifications with that of state that the step reads.
    """

    def __init__(
        self,
        classified: Classified,
        step_id: str,
        override: int | None,
        recorder: Recorder,
        reclassify: Callable[[int], Awaitable[Classified]],
    ) -> None:
        self._found = classified
        self._reclassify = reclassify
        self._cleared = classified.scheme.highest
        """The lowest classification that a model of the step is cleared for, of those that were checked."""
        self._step_id = step_id
        self._here = classified.steps[step_id]
        self._override = override
        self._recorder = recorder
        self._given = self._here.incoming if self._here.unknown_model else self._here.output
        self._read = 0
        """The highest classification of the documents that the step has read."""
        self._keep()

    def check_step(self) -> None:
        """Raise `ClassRefused` when the classification of the step's input is not allowed."""
        for issue in self._found.issues:
            if issue.node in {self._step_id, ""}:
                raise ClassRefused(str(issue), remedy=issue.remedy)

    def check_model(self, model: Model) -> None:
        """Raise `ClassRefused` when a model is not cleared for the step's input. Call it before the model."""
        ref, trusted, name = _ref_of(model), self.clearance_of(model), self._found.scheme.name
        needed = self.reached
        if trusted < needed:
            raise ClassRefused(
                f"Step '{self._step_id}' would call {ref}, which is cleared for {name(trusted)}, with input "
                f"classified {name(needed)}. The model was not called.",
                remedy=f"Choose a model cleared for {name(needed)} or higher.",
            )
        self._cleared = min(self._cleared, trusted)
        self._given = max(self._given, trusted)
        self._keep()

    def clearance_of(self, model: Model) -> int:
        """Return the highest classification that a model may receive."""
        return self._found.class_of(_ref_of(model))

    def check_connection(self, name: str, level: int) -> None:
        """Raise `ClassRefused` when the step's input may not be sent to a connection."""
        if level < self.reached:
            scheme = self._found.scheme
            raise ClassRefused(
                f"Step '{self._step_id}' would use the connection '{name}', which may receive {scheme.name(level)}, "
                f"with input classified {scheme.name(self.reached)}. Nothing was sent.",
                remedy=f"Choose a connection that may receive {scheme.name(self.reached)}.",
            )

    def check_flow(self, flow: Flow) -> None:
        """Raise `ClassRefused` when a flow that the step runs takes less than what reaches the step."""
        scheme = self._found.scheme
        takes = scheme.of_input(flow.settings.input_classification)
        if takes < self.reached:
            raise ClassRefused(
                f"Step '{self._step_id}' would run '{flow.name}', whose input is classified {scheme.name(takes)}, with "
                f"input classified {scheme.name(self.reached)}. It was not started.",
                remedy=f"Set the classification of that flow's input to {scheme.name(self.reached)} or higher.",
            )

    @property
    def incoming(self) -> int:
        """Return the classification of what reaches the step."""
        return self._here.incoming

    @property
    def reached(self) -> int:
        """Return the classification of what has reached the step so far, with the documents that it has read."""
        return max(self._here.incoming, self._read)

    def check_event(self, level: int) -> None:
        """Raise `ClassRefused` when the data of an event is classified higher than the step's output."""
        output, name = self._here.output if self._override is None else self._override, self._found.scheme.name
        if level > output:
            raise ClassRefused(
                f"Step '{self._step_id}' would output data of an event that is classified {name(level)}, and its output"
                f" is classified {name(output)}.",
                remedy=f"Set the classification of its output to {name(level)} or higher.",
            )

    @property
    def clearance(self) -> int:
        """Return the highest classification of documents that the step may read: that of its output."""
        return self._here.output if self._override is None else self._override

    def read(self, level: int) -> None:
        """Take account of the classification of documents that the step has read."""
        self._read = max(self._read, level)
        self.receive(level)

    async def read_state(self, level: int | None) -> None:
        """Take account of the classification of state that the step has read; None counts as the run's input.

        Raises `ClassRefused` when the step may not have it: a model, a connection or a tool of it is not cleared.
        """
        reached = self._found.input_class if level is None else level
        if reached > self.reached:
            classified = await self._reclassify(reached)
            for issue in classified.issues:
                if issue.node == self._step_id:
                    raise ClassRefused(str(issue), remedy=issue.remedy)
            name = self._found.scheme.name
            if reached > self._cleared:
                raise ClassRefused(
                    f"Step '{self._step_id}' would show state that is classified {name(reached)} to a model that is "
                    f"cleared for {name(self._cleared)}.",
                    remedy=f"Choose a model cleared for {name(reached)} or higher.",
                )
            self._found, self._here = classified, classified.steps[self._step_id]
        self.read(reached)

    def receive(self, level: int) -> None:
        """Take account of the classification of what the step received while it ran."""
        self._given = max(self._given, level)
        self._keep()

    def put_out(self, outputs: Collection[str]) -> None:
        """Take account of the outputs that the step has taken: what users did not approve keeps its classification."""
        if not self._here.unlowered.isdisjoint(outputs):
            self._override = None
            self.receive(self._here.highest_output)

    def _keep(self) -> None:
        self._recorder.classification = self._given if self._override is None else self._override


def _ref_of(model: Model) -> ModelRef:
    own_address = model.params.get("base_url") is not None
    return ModelRef(model.provider.strip().lower().replace("-", "_"), model.name, own_address)


async def open_guard(classes: SecurityClasses, run: ActiveRun, step_id: str, recorder: Recorder) -> StepGuard:
    """Return the guard of a step that may start. Raises `ClassRefused`."""
    tenant, flow = run.key.tenant_id, run.planned.flow

    async def classify(stored: int | None = None) -> Classified:
        observed = Observed(dict(run.ledger.classes), {} if stored is None else {step_id: stored})
        return await classes.classify(tenant, flow, observed)

    policy = run.planned.steps[step_id].step.policy
    override = None if policy.disabled == "pass_through" else policy.output_classification_override
    guard = StepGuard(await classify(), step_id, override, recorder, classify)
    guard.check_step()
    return guard
