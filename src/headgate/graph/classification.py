"""Security classes along a flow (seed 002, Security Classification): which class of data reaches which step.

A class is a number, 0 the most open. The rule of the seed, which is linear, holds here for any graph:

- A step's incoming class is the highest of what reaches it: over edges, by `{{...}}` in its values, bindings and policy
  and in what is attached to it, from all steps before it with `all_previous_steps`, and from the run's own input.
- Every model of a step must be classed at least as high as what reaches the step.
- A step gives what its `output_classification_override` says. Without one it gives the class of its models, as a model
  trusted with a class may have used it, and a step without a model passes on what reached it.
- The override of an approval holds for what was approved: its outputs for a rejection and a timeout give what reached
  the step. The override of a disabled step that passes its input through can only raise.
- What is above `external_max` does not leave: not by `http_post`, not to a component or a tool that sends, not in the
  address, headers or body of a request that fetches a step's input.

Raising the class of the input, of a model or of an override never lowers the class of any output.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.graph.check_graph import named
from headgate.graph.check_policies import HTTP_SOURCES
from headgate.graph.interpolate import Reference
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.mentions import mentions, policy_mentions
from headgate.graph.model import Flow, InputSource, Node
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import MODEL_FALLBACK
from headgate.graph.template import Catalog
from headgate.graph.wiring import FLOW_INPUT, Wiring, ancestor_masks, wire

HISTORY_TYPE = "MessageHistory"
"""The component that reads earlier runs of a chat: their inputs and outputs."""
RUN_INPUT = "the run's input"
FLOW_STATE = "the state of the flow"
UNAPPROVED: Mapping[str, frozenset[str]] = {"Approval": frozenset({"reject", "timeout"})}
"""Outputs that an override does not lower, by component: the users have not approved what they carry."""
NOT_STEPS = frozenset({RUN_INPUT, FLOW_STATE, "earlier messages of the chat"})


@dataclass(frozen=True, slots=True)
class Scheme:
    """The classes of an installation."""

    names: tuple[str, ...]
    """Name of each class, the most open first."""
    external_max: int = 1
    """The highest class that may leave."""
    input_class: int = 0
    """Class of a run's input where the flow does not say."""

    def of_input(self, declared: int | None) -> int:
        """Return the classification of a run's input: as the flow declares it, or the default."""
        return self.input_class if declared is None else declared

    @property
    def highest(self) -> int:
        """Return the highest classification."""
        return len(self.names) - 1

    def name(self, level: int) -> str:
        """Return the display name of a classification."""
        return self.names[level] if 0 <= level <= self.highest else f"class {level}"


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model in a flow."""

    provider: str
    name: str
    own_address: bool = False
    """Whether the flow sets the model's server, which then is not the classified one."""

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


ModelClass = Callable[[ModelRef], int]
"""The class that a tenant gives a model."""


@dataclass(frozen=True, slots=True)
class StepClass:
    """The classes at one step."""

    incoming: int
    origin: str
    """Sources of the incoming classification: a step's id, or the run's input; empty when there are none."""
    models: tuple[ModelRef, ...]
    """Models of the step and of its attachments that the flow names directly."""
    unknown_model: bool
    """Whether a model is only known when the step runs."""
    output: int
    unlowered: frozenset[str] = frozenset()
    """Outputs that the override does not lower."""
    unlowered_class: int = 0
    """Class of these outputs."""

    @property
    def highest_output(self) -> int:
        """Return the highest class of all outputs."""
        return max(self.output, self.unlowered_class)

    def of_output(self, name: str) -> int:
        """Return the class of an output."""
        return self.highest_output if name in self.unlowered else self.output


@dataclass(frozen=True, slots=True)
class Classified:
    """The classes of a whole flow, and by which classes of models they came about."""

    scheme: Scheme
    class_of: ModelClass
    input_class: int
    steps: Mapping[str, StepClass]
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """What a run has shown of its classes: they are raised, never lowered."""

    outputs: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Step to the class of its output, of completed steps."""
    stored: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Step to the class of what it has read of the state of the flow."""


def classify(
    flow: Flow, catalog: Catalog, scheme: Scheme, class_of: ModelClass, observed: Observed | None = None
) -> Classified:
    """Return the classes along a flow, and everything that must not be. Works on drafts, also faulty ones."""
    classifier = _Classifier(wire(flow, catalog), scheme, class_of, observed or Observed())
    return Classified(scheme, class_of, classifier.input_class, classifier.steps, tuple(classifier.issues()))


def model_ref(value: JsonValue) -> ModelRef | None:
    """Return the model in a field's value; None when it is only known when the step runs."""
    provider: JsonValue
    name: JsonValue
    params: JsonValue = None
    if isinstance(value, str):
        provider, _, name = value.partition("/")
    elif isinstance(value, dict):
        provider, name, params = value.get("provider"), value.get("name"), value.get("params")
    else:
        return None
    if not (isinstance(provider, str) and isinstance(name, str)) or "{{" in provider + name or not (provider and name):
        return None
    own_address = isinstance(params, dict) and params.get("base_url") is not None
    return ModelRef(provider.strip().lower().replace("-", "_"), name, own_address)


def model_refs(value: JsonValue) -> list[ModelRef | None]:
    """The model that a field's value names, followed by its fallback models."""
    fallback = value.get(MODEL_FALLBACK) if isinstance(value, dict) else None
    return [model_ref(value), *(model_ref(model) for model in (fallback if isinstance(fallback, list) else ()))]


class _Classifier:
    """Computes classifications from the first step of a flow to its last."""

    def __init__(self, wiring: Wiring, scheme: Scheme, class_of: ModelClass, observed: Observed) -> None:
        self._wiring = wiring
        self._observed = observed
        self._scheme = scheme
        self._class_of = class_of
        self._aliases = wiring.aliases
        self._bits, self._before = ancestor_masks(wiring)
        self.input_class = scheme.of_input(wiring.flow.settings.input_classification)
        self._history = self.input_class
        self.steps: dict[str, StepClass] = {}
        self._walk()

    def _walk(self) -> None:
        """Run once, and again while outputs of earlier runs of a chat have a higher classification."""
        while True:
            self.steps = {}
            for step in self._wiring.order:
                self.steps[step] = self._step(self._wiring.nodes[step])
            final_classes = [
                self.steps[step].highest_output for step in self._wiring.order if not self._wiring.children[step]
            ]
            remembered = max([self._history, *final_classes])
            if remembered == self._history:
                return
            self._history = remembered

    def _step(self, node: Node) -> StepClass:
        members = self._members(node)
        incoming, origin = max(self._sources(node, members), default=(0, ""), key=lambda source: source[0])
        refs = [ref for member in members for value in self._model_values(member) for ref in model_refs(value)]
        models = tuple(dict.fromkeys(ref for ref in refs if ref is not None))
        unknown = None in refs
        override = node.policy.output_classification_override
        classes = [self._class_of(ref) for ref in models] + [self._scheme.highest] * unknown
        observed = self._observed.outputs.get(node.id, 0)
        passed = max([incoming, observed, *classes])
        if override is None or (node.policy.disabled == "pass_through" and override < passed):
            return StepClass(incoming, origin, models, unknown, passed)
        unlowered = UNAPPROVED.get(node.type, frozenset()) if override < passed else frozenset[str]()
        return StepClass(incoming, origin, models, unknown, override, unlowered, passed if unlowered else 0)

    def _members(self, node: Node) -> list[Node]:
        """Return the step and its attachments, including nested ones."""
        members: dict[str, Node] = {node.id: node}
        waiting = [node.id]
        while waiting:
            for attachment in self._wiring.attachments(waiting.pop()):
                source = attachment.edge.source
                if source not in members:
                    members[source] = self._wiring.nodes[source]
                    waiting.append(source)
        return list(members.values())

    def _model_values(self, node: Node) -> Iterator[JsonValue]:
        template = self._wiring.templates[node.id]
        connected = {wire.edge.input for wire in self._wiring.attachments(node.id)}
        for field in template.fields if template is not None else ():
            bound = field.name in node.policy.input_bindings
            if PortType.MODEL in field.types and field.name not in connected:
                value = None if bound else node.params.get(field.name, field.default)
                if bound or value not in (None, ""):
                    yield value

    def _sources(self, node: Node, members: Sequence[Node]) -> Iterator[tuple[int, str]]:
        """Yield classification and name of everything that reaches a step."""
        yield from self._parents(node, members)
        if node.id in self._observed.stored:
            yield self._observed.stored[node.id], FLOW_STATE
        if node.policy.input_source is InputSource.FLOW_INPUT:
            yield self.input_class, RUN_INPUT
        if node.policy.input_source is InputSource.ALL_PREVIOUS_STEPS:
            for step in self._wiring.order:
                if self._before[node.id] & self._bits[step]:
                    yield self._given(step)
        for member in members:
            yield from self._read(member)
            for mention in mentions(member, self._wiring.templates[member.id]):
                yield from self._mentioned(mention.reference, node)

    def _parents(self, node: Node, members: Sequence[Node]) -> Iterator[tuple[int, str]]:
        """Yield what reaches a step over edges, also into its attachments, and from steps that it only names."""
        for parent in self._wiring.parents[node.id]:
            if parent in self.steps:
                yield self.steps[parent].output, parent
        for wire_in in (arriving for member in members for arriving in self._wiring.data_into(member.id)):
            source = self.steps.get(wire_in.edge.source)
            if source is not None:
                yield source.of_output(wire_in.edge.output), wire_in.edge.source

    def _read(self, node: Node) -> Iterator[tuple[int, str]]:
        template = self._wiring.templates[node.id]
        if template is None or not template.reads_input:
            return
        yield (
            (self._history, "earlier messages of the chat")
            if node.type == HISTORY_TYPE
            else (self.input_class, RUN_INPUT)
        )

    def _mentioned(self, reference: Reference, reader: Node) -> Iterator[tuple[int, str]]:
        if reference.root == FLOW_INPUT:
            yield self.input_class, RUN_INPUT
            return
        step = self._wiring.step_named(reference.root, self._aliases)
        if step is not None and step in self.steps and step != reader.id:
            template = self._wiring.templates[step]
            name = reference.path[1] if len(reference.path) > 1 else ""
            named_output = template is not None and template.output(name) is not None
            yield (self.steps[step].of_output(name), step) if named_output else self._given(step)

    def _given(self, step: str) -> tuple[int, str]:
        """Return the class of any output of a step."""
        return (self.steps[step].highest_output, step) if step in self.steps else (0, step)

    def issues(self) -> Iterator[Issue]:
        """Yield everything that must not be, step by step."""
        yield from self._scheme_issues()
        for step, step_class in self.steps.items():
            node = self._wiring.nodes[step]
            yield from self._model_issues(node, step_class)
            yield from self._outside_issues(node, step_class)
            yield from self._request_issues(node)

    def _scheme_issues(self) -> Iterator[Issue]:
        top = self._scheme.highest
        remedy = f"Classes: {', '.join(f'{level} ({name})' for level, name in enumerate(self._scheme.names))}."
        if self.input_class > top:
            yield _issue(
                f"input_classification is {self.input_class}, but the highest classification is {top}.", remedy
            )
        for step in self.steps:
            override = self._wiring.nodes[step].policy.output_classification_override
            if override is not None and override > top:
                subject = named(self._wiring.nodes[step])
                message = f"{subject} sets classification {override}, but the highest classification is {top}."
                yield _issue(message, remedy, step, "output_classification_override")

    def _model_issues(self, node: Node, step_class: StepClass) -> Iterator[Issue]:
        name = self._scheme.name
        for ref in step_class.models:
            trusted = self._class_of(ref)
            if trusted < step_class.incoming:
                yield _issue(
                    f"{named(node)} calls {ref}, which is cleared for {name(trusted)}, but "
                    f"{_brings(step_class.origin)} {name(step_class.incoming)}.",
                    f"Choose a model cleared for {name(step_class.incoming)} or higher{self._or_lower(step_class)}",
                    node.id,
                    "model",
                )

    def _outside_issues(self, node: Node, step_class: StepClass) -> Iterator[Issue]:
        limit, name = self._scheme.external_max, self._scheme.name
        if node.policy.output_mode == "http_post" and step_class.highest_output > limit:
            yield _issue(
                f"{named(node)} posts {name(step_class.highest_output)} to a URL; "
                f"at most {name(limit)} may be sent out.",
                (
                    "Set output_mode to pass_through, or output_classification_override to the classification "
                    "of its output."
                ),
                node.id,
                "output_mode",
            )
        if step_class.incoming <= limit:
            return
        for member in self._members(node):
            template = self._wiring.templates[member.id]
            if template is not None and template.outside:
                does = "sends its input out" if member.id == node.id else f"may send data through {named(member)}"
                yield _issue(
                    f"{named(node)} {does}, and {_brings(step_class.origin)} {name(step_class.incoming)}; at most "
                    f"{name(limit)} may be sent out.",
                    f"Take {member.id} out{self._or_lower(step_class)}",
                    node.id,
                )

    def _request_issues(self, node: Node) -> Iterator[Issue]:
        """Yield issues of the URL, headers and body of the requests of a policy."""
        limit, name = self._scheme.external_max, self._scheme.name
        sent = tuple(
            place
            for place, used in (
                ("input_config.", node.policy.input_source in HTTP_SOURCES),
                ("output_config.", node.policy.output_mode == "http_post"),
            )
            if used
        )
        for mention in policy_mentions(node.policy):
            if not mention.field.startswith(sent):
                continue
            for level, origin in self._mentioned(mention.reference, node):
                if level > limit:
                    yield _issue(
                        f"'{mention.field}' of {named(node)} sends {mention.reference} out, and "
                        f"{_brings(origin)} {name(level)}; at most {name(limit)} may be sent out.",
                        "Remove the reference, or lower the classification at its source.",
                        node.id,
                        mention.field,
                    )

    def _or_lower(self, step: StepClass) -> str:
        if step.origin in self.steps and self.steps[step.origin].unlowered:
            return f", or use what '{step.origin}' outputs when it is approved."
        if step.origin in self.steps:
            return f", or set output_classification_override of '{step.origin}' when its output is less sensitive."
        if step.origin == FLOW_STATE:
            return ", or read the state in a step before, whose output_classification_override may lower it."
        return ", or lower input_classification in the flow's settings when the input is less sensitive."


def _brings(origin: str) -> str:
    return f"{origin} is" if origin in NOT_STEPS else f"'{origin}' brings"


def _issue(message: str, remedy: str, node: str = "", field: str = "") -> Issue:
    return Issue(IssueCode.CLASSIFICATION, message, remedy, node, field)
