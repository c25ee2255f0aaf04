"""The path of a run and what it would access, derived from its plan. Pure."""

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
"""Rule of thumb for European languages; providers count differently."""
_HTTP = frozenset({InputSource.HTTP_GET, InputSource.HTTP_POST})


def certain_steps(steps: Mapping[str, PlannedStep]) -> set[str]:
    """Return the steps that run whatever earlier branches decide; `steps` has parents before children."""
    certain: set[str] = set()
    for step in steps.values():
        may_miss = [all(_may_miss(steps, feed, certain) for feed in inlet.feeds) for inlet in step.inlets]
        needed = any(missing and inlet.indispensable for missing, inlet in zip(may_miss, step.inlets, strict=True))
        if not needed and not (may_miss and all(may_miss)) and step.step.policy.disabled == "no":
            certain.add(step.id)
    return certain


def _may_miss(steps: Mapping[str, PlannedStep], feed: Feed, certain: set[str]) -> bool:
    """Whether an edge may carry no value."""
    source = steps[feed.source].step
    output = source.template.output(feed.output)
    fails = source.policy.has_error_output
    return feed.source not in certain or fails or (output is not None and output.branch)


def inputs_of(step: PlanStep) -> list[DryInput]:
    """Return the source of each input of a step, in order of precedence."""
    policy, main = step.policy, step.template.main_field
    sources: dict[str, str] = {}
    for edge in step.inbound:
        source = f"{edge.source}.{edge.output}"
        sources[edge.input] = f"{sources[edge.input]}, {source}" if edge.input in sources else source
    if main is not None and policy.input_source is not InputSource.PREVIOUS_STEP:
        call = policy.input_config if policy.input_source in _HTTP else None
        sources[main.name] = (
            f"{policy.input_source.value} {call.url}" if call is not None else policy.input_source.value
        )
    sources |= policy.input_bindings
    for name, value in step.node.params.items():
        field = step.template.field(name)
        texts = texts_in(value) if field is not None and field.interpolate else ()
        mentioned = dict.fromkeys(str(reference) for text in texts for reference in references(text))
        if mentioned and name not in sources:
            sources[name] = ", ".join(mentioned)
    return [DryInput(field=name, source=source) for name, source in sources.items()]


def members_of(step: PlanStep) -> Iterator[tuple[Node, Template]]:
    """Return a step's node and every node attached to it, directly or through others."""
    yield step.node, step.template
    waiting: list[Attachment] = list(step.attachments)
    while waiting:
        node = waiting.pop(0)
        yield node.node, node.template
        waiting.extend(node.attachments)


def model_values(step: PlanStep) -> Iterator[Any]:
    """Return the model fields of a step and of its attachments, with key references as `SecretReference`."""
    for node, template in members_of(step):
        params = typed_params(node.params, template)
        for field in template.fields:
            value = params.get(field.name, field.default)
            if PortType.MODEL in field.types and value not in (None, ""):
                yield value


def tools_of(step: PlanStep) -> list[str]:
    """Return the names of the nodes that are tools of a step."""
    kinds = {
        attachment.edge.source: attachment.node for attachment in step.attachments if attachment.edge.output == "tool"
    }
    return [f"{node_id} ({node.type})" for node_id, node in kinds.items()]


def known_characters(step: PlanStep, text: str) -> int:
    """Return the length of what a model of the step would receive, as far as it is known.

    Args:
        step: The step.
        text: The run's text.
    """
    length = sum(
        len(text)
        for node, template in members_of(step)
        for name, value in node.params.items()
        if _is_prompt(template, name)
        for text in texts_in(value)
    )
    return length + (len(text) if step.policy.input_source is InputSource.FLOW_INPUT else 0)


def _is_prompt(template: Template, name: str) -> bool:
    field = template.field(name)
    return field is not None and field.kind in {FieldKind.MULTILINE, FieldKind.MESSAGE}


def hosts_of(step: PlanStep) -> Iterator[DryHost]:
    """Return the hosts that a step would access by its policy and its components, without those of models."""
    for member, call in calls_of(step.node).items():
        purpose: Literal["input", "delivery"] = "input" if member == "input_config" else "delivery"
        yield DryHost(step_id=step.id, host=host_of(call.url), purpose=purpose)
    for node, template in members_of(step):
        for host in hosts_of_node(node, template):
            yield DryHost(step_id=step.id, host=host, purpose="component" if node.id == step.id else "tool")


def secret_names(step: PlanStep) -> list[str]:
    """Return the secrets that a step refers to, without those of its models."""
    references = [
        header
        for call in calls_of(step.node).values()
        for header in call.headers.values()
        if isinstance(header, SecretReference)
    ]
    for node, template in members_of(step):
        references += references_of(node.params, template)
    return list(dict.fromkeys(reference.name for reference in references))
