"""The path that a run would take, and what it would reach, read from its plan. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from headgate.features.flows.readiness.hosts import calls_of, host_of, hosts_of_node
from headgate.features.runs.preview.schemas import DryHost, DryInput
from headgate.features.runs.steps.planned import Feed, PlannedStep
from headgate.graph.interpolate import references, texts_in
from headgate.graph.model import InputSource, Node
from headgate.graph.plan import Attachment, PlanStep
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import SecretReference, references_of, typed_params
from headgate.graph.template import FieldKind, Template

CHARACTERS_A_TOKEN = 4
"""A rule of thumb for European languages; providers count in their own ways."""
_HTTP = frozenset({InputSource.HTTP_GET, InputSource.HTTP_POST})


def certain_steps(steps: Mapping[str, PlannedStep]) -> set[str]:
    """Steps that run whatever the branches before them decide; `steps` has parents before children."""
    certain: set[str] = set()
    for step in steps.values():
        lost = [all(_may_miss(steps, feed, certain) for feed in inlet.feeds) for inlet in step.inlets]
        needed = any(missing and inlet.indispensable for missing, inlet in zip(lost, step.inlets, strict=True))
        if not needed and not (lost and all(lost)):
            certain.add(step.id)
    return certain


def _may_miss(steps: Mapping[str, PlannedStep], feed: Feed, certain: set[str]) -> bool:
    """Whether it may be that nothing comes over an edge."""
    output = steps[feed.source].step.template.output(feed.output)
    return feed.source not in certain or (output is not None and output.branch)


def inputs_of(step: PlanStep) -> list[DryInput]:
    """Where each input of a step would come from, in the order in which one stands before the other."""
    policy, main = step.policy, step.template.main_field
    found: dict[str, str] = {}
    for edge in step.inbound:
        source = f"{edge.source}.{edge.output}"
        found[edge.input] = f"{found[edge.input]}, {source}" if edge.input in found else source
    if main is not None and policy.input_source is not InputSource.PREVIOUS_STEP:
        call = policy.input_config if policy.input_source in _HTTP else None
        found[main.name] = f"{policy.input_source.value} {call.url}" if call is not None else policy.input_source.value
    found |= policy.input_bindings
    for name, value in step.node.params.items():
        field = step.template.field(name)
        texts = texts_in(value) if field is not None and field.interpolate else ()
        mentioned = dict.fromkeys(str(reference) for text in texts for reference in references(text))
        if mentioned and name not in found:
            found[name] = ", ".join(mentioned)
    return [DryInput(field=name, source=source) for name, source in found.items()]


def members_of(step: PlanStep) -> Iterator[tuple[Node, Template]]:
    """A step's node, and every node attached to it, directly or through others."""
    yield step.node, step.template
    waiting: list[Attachment] = list(step.attachments)
    while waiting:
        one = waiting.pop(0)
        yield one.node, one.template
        waiting.extend(one.attachments)


def model_values(step: PlanStep) -> Iterator[Any]:
    """What the model fields of a step and of its attachments hold, a key that one refers to as `SecretReference`."""
    for node, template in members_of(step):
        params = typed_params(node.params, template)
        for field in template.fields:
            value = params.get(field.name, field.default)
            if PortType.MODEL in field.types and value not in (None, ""):
                yield value


def tools_of(step: PlanStep) -> list[str]:
    """Names of the nodes that are tools of a step."""
    kinds = {one.edge.source: one.node for one in step.attachments if one.edge.output == "tool"}
    return [f"{node_id} ({node.type})" for node_id, node in kinds.items()]


def known_characters(step: PlanStep, text: str) -> int:
    """Length of what a model of the step would be sent, as far as it is known now.

    Args:
        step: The step.
        text: The run's text.
    """
    length = sum(
        len(one)
        for node, template in members_of(step)
        for name, value in node.params.items()
        if _is_prompt(template, name)
        for one in texts_in(value)
    )
    return length + (len(text) if step.policy.input_source is InputSource.FLOW_INPUT else 0)


def _is_prompt(template: Template, name: str) -> bool:
    field = template.field(name)
    return field is not None and field.kind in {FieldKind.MULTILINE, FieldKind.MESSAGE}


def hosts_of(step: PlanStep) -> Iterator[DryHost]:
    """Servers that a step would reach by its policy and its components; those of models are found elsewhere."""
    for member, call in calls_of(step.node).items():
        purpose: Literal["input", "delivery"] = "input" if member == "input_config" else "delivery"
        yield DryHost(step_id=step.id, host=host_of(call.url), purpose=purpose)
    for node, template in members_of(step):
        for host in hosts_of_node(node, template):
            yield DryHost(step_id=step.id, host=host, purpose="component" if node.id == step.id else "tool")


def secret_names(step: PlanStep) -> list[str]:
    """Secrets that a step refers to, those of its models excepted."""
    found = [
        one
        for call in calls_of(step.node).values()
        for one in call.headers.values()
        if isinstance(one, SecretReference)
    ]
    for node, template in members_of(step):
        found += references_of(node.params, template)
    return list(dict.fromkeys(one.name for one in found))
