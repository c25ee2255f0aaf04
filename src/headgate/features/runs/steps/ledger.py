"""State of a run in this process: settled steps, their outputs, and what they enable. Pure."""

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from headgate.features.runs.steps.planned import Feed, Inlet, PlannedFlow, PlannedStep
from headgate.graph.named_outputs import NamedOutput
from headgate.sdk.outside import Marks

Outputs = Mapping[str, JsonValue]
"""Output name to complete value as JSON. Outputs of branches that were not taken are missing."""


class Ledger:
    """Settled steps of one run.

    A step is decided once all its parents are settled. It is skipped when its policy disables it so, when every edge
    into it is dead, or every edge into a required field; otherwise it may be claimed. An edge is dead when its source
    step was skipped or did not take that output. References that name the output of a step are edges in this rule
    where a field, or a step, has no others.
    """

    def __init__(self, planned: PlannedFlow) -> None:
        self._steps = planned.steps
        self.results: dict[str, Outputs] = {}
        self.skipped: set[str] = set()
        self.outside: dict[str, Marks] = {}
        """Origins of untrusted content in a step's outputs, by step."""
        self.classes: dict[str, int] = {}
        """Classification of a step's outputs, by step, when classifications are enabled."""
        self.made: dict[str, str] = {}
        """File id to the step that created it."""

    def settled(self, step_id: str) -> bool:
        """Whether the step has its outputs or was skipped."""
        return step_id in self.results or step_id in self.skipped

    @property
    def complete(self) -> bool:
        """Whether every step is settled."""
        return len(self.results) + len(self.skipped) == len(self._steps)

    def decidable(self, step_id: str) -> bool:
        """Whether every parent is settled in this ledger."""
        for parent in self._steps[step_id].step.parents:
            if parent not in self.results and parent not in self.skipped:
                return False
        return True

    def alive(self, feed: Feed) -> bool:
        """Whether an edge carries a value."""
        return feed.output in self.results.get(feed.source, ())

    def arrives(self, inlet: Inlet) -> bool:
        """Whether any edge into a field carries a value."""
        return any(feed.output in self.results.get(feed.source, ()) for feed in inlet.feeds)

    def must_skip(self, step: PlannedStep) -> bool:
        """Whether a decidable step must be skipped."""
        if step.step.policy.disabled == "skip":
            return True
        if any(self._all_dead(named) for named in step.required):
            return True
        if not step.inlets:
            return bool(step.named) and self._all_dead(step.named)
        nothing = True
        for inlet in step.inlets:
            if self.arrives(inlet):
                nothing = False
            elif inlet.indispensable:
                return True
        return nothing

    def _all_dead(self, named: Iterable[NamedOutput]) -> bool:
        """Whether none of the outputs that references name is there."""
        for source, output in named:
            outputs = self.results.get(source)
            if outputs is not None and (output is None or output in outputs):
                return False
        return True

    def settle(
        self,
        step_id: str,
        outputs: Outputs,
        *,
        outside: Marks = (),
        file_ids: Iterable[str] = (),
        classification: int | None = None,
    ) -> "Following":
        """Add a step's outputs, their marks and classification, and its files. Returns what follows."""
        self.note(step_id, outside, file_ids, classification)
        self.results[step_id] = outputs
        return self._follow([step_id], Following())

    def note(self, step_id: str, outside: Marks, file_ids: Iterable[str], classification: int | None) -> None:
        """Add the origins and the classification of a step's content, and its files."""
        if classification is not None:
            self.classes[step_id] = classification
        if outside:
            self.outside[step_id] = outside
        for file_id in file_ids:
            self.made[file_id] = step_id

    def decide(self, steps: Iterable[str]) -> "Following":
        """Decide steps that wait for nothing: skip them, with their dependents, or offer them for claiming."""
        following = Following()
        return self._follow([step for step in steps if self._skip_or_offer(step, following)], following)

    def _follow(self, settled: list[str], following: "Following") -> "Following":
        settles = following.settles
        while settled:
            for child in self._steps[settled.pop()].step.children:
                settles[child] = settles.get(child, 0) + 1
                if child in following.offered or self.settled(child):
                    continue
                if self.decidable(child) and self._skip_or_offer(child, following):
                    settled.append(child)
        for step in following.skip:
            settles.pop(step, None)
        return following

    def _skip_or_offer(self, step_id: str, following: "Following") -> bool:
        if self.must_skip(self._steps[step_id]):
            self.skipped.add(step_id)
            following.skip.append(step_id)
            return True
        following.offered.append(step_id)
        return False


class Following:
    """Effects of a settled step on others."""

    __slots__ = ("offered", "settles", "skip")

    def __init__(self) -> None:
        self.settles: dict[str, int] = {}
        """Step to the number of its parents that are now settled."""
        self.skip: list[str] = []
        self.offered: list[str] = []
        """Steps that may be claimed."""
