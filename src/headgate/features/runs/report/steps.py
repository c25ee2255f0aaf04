"""The steps in an audit report: type, permissions, configuration and results. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.features.runs.evidence.masking import Mask
from headgate.features.runs.report.figures import price, retries, seconds, tokens, took
from headgate.features.runs.report.history import history
from headgate.features.runs.report.markdown import as_json, block, facts, plain, table
from headgate.features.runs.report.subject import Ran, Subject
from headgate.features.runs.report.words import Words
from headgate.features.runs.reruns.costs import UNKNOWN
from headgate.graph.canonical import sha256_of
from headgate.graph.model import HttpCall, Node, StepPolicy
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import MODEL_FALLBACK, SecretReference, is_reference
from headgate.graph.template import FieldKind, Template

_LONG = 90
"""Characters: a longer value becomes a block below the table."""
_IN_BLOCKS = frozenset({FieldKind.CODE, FieldKind.MULTILINE, FieldKind.MESSAGE, FieldKind.JSON, FieldKind.TABLE})


def step_pages(subject: Subject) -> Iterator[str]:
    """Return every step in execution order; steps of a cycle last."""
    order = dict.fromkeys((*subject.wiring.order, *subject.wiring.steps))
    for number, step in enumerate(order, start=1):
        node = subject.wiring.nodes[step]
        yield f"### {number}\\. {plain(subject.mask.text(node.label or node.id))}"
        yield _about(subject, node)
        if subject.ran is not None and step in subject.ran.steps:
            yield from _outcome(subject, subject.ran, step)
        yield from _set_values(subject, node)
        yield from _contracts(subject, node)


def other_pages(subject: Subject) -> Iterator[str]:
    """Return the nodes that are not steps: models, tools, notes."""
    labels, wiring = subject.words, subject.wiring
    other_nodes = [
        node for key, node in wiring.nodes.items() if key not in set(wiring.steps) and key not in wiring.notes
    ]
    if not other_nodes:
        return
    yield f"## {labels['other_nodes']}"
    for node in other_nodes:
        yield f"### {plain(subject.mask.text(node.label or node.id))}"
        yield facts(
            [(labels["id"], plain(node.id)), (labels["component"], _component(subject, node)), *_model(subject, node)],
            (labels["what"], labels["value"]),
        )
        yield from _set_values(subject, node)


def _about(subject: Subject, node: Node) -> str:
    labels, policy, wiring = subject.words, node.policy, subject.wiring
    override = policy.output_classification_override
    graph_node = subject.nodes.get(node.id)
    allowed = labels["all_tools"]
    if policy.tool_policy == "restricted":
        allowed = labels["only"].format(names=", ".join(policy.tool_allowlist) or "–")
    tools = [attachment.edge.source for attachment in wiring.attachments(node.id) if attachment.type is PortType.TOOL]
    sources = dict.fromkeys(f"{wire.edge.source}.{wire.edge.output}" for wire in wiring.data_into(node.id))
    rows = [
        (labels["id"], plain(node.id)),
        (labels["component"], _component(subject, node)),
        *_model(subject, node),
        (labels["class"], _class_of(graph_node.classification) if graph_node else ""),
        (labels["override"], "" if override is None else f"K{override}"),
        (
            labels["input"],
            plain(f"{labels['from_' + policy.input_source.value]}, {labels['of_' + policy.input_type.value]}"),
        ),
        (labels["takes"], plain(", ".join(sources))),
        (labels["output"], plain(f"{labels['to_' + policy.output_mode]}, {labels['of_' + policy.output_type.value]}")),
        *_call(subject, labels["fetches"], policy.input_config),
        *_call(subject, labels["delivers"], policy.output_config),
        (labels["tools"], plain(", ".join(tools))),
        (labels["policy"], plain(allowed) if tools or policy.tool_policy == "restricted" else ""),
        *_reliability(labels, policy, subject.mask),
    ]
    return facts(rows, (labels["what"], labels["value"]))


def _reliability(labels: Words, policy: StepPolicy, mask: Mask) -> Iterator[tuple[str, str]]:
    """Return retries, limits and approvals of a step, what follows when it fails, and whether it is disabled."""
    yield labels["retries"], retries(labels, policy.retry)
    yield labels["time_limit"], seconds(labels, policy.timeout_seconds)
    yield labels["total_limit"], seconds(labels, policy.total_timeout_seconds)
    if policy.concurrency is not None:
        yield labels["concurrency"], plain(labels["concurrency_of"].format(**policy.concurrency.model_dump()))
    if policy.tool_approval is not None:
        yield labels["tool_approval"], plain(", ".join(policy.tool_approval.tools))
    if policy.on_error != "fail":
        yield labels["on_error"], plain(labels[f"on_{policy.on_error}"])
    if policy.on_error == "default_value":
        yield labels["default_value"], plain(mask.text(as_json(policy.default_value)))
    if policy.disabled != "no":
        yield labels["disabled"], plain(labels[f"disabled_{policy.disabled}"])


def _component(subject: Subject, node: Node) -> str:
    template = subject.wiring.templates[node.id]
    return plain(f"{template.label} ({node.type})" if template and template.label != node.type else node.type)


def _class_of(classification: Any) -> str:  # noqa: ANN401 - a class or nothing
    return plain(f"K{classification.level} {classification.name}") if classification is not None else ""


def _model(subject: Subject, node: Node) -> list[tuple[str, str]]:
    """Return the models of a node: its own, or attached ones."""
    wiring = subject.wiring
    attached = [
        wiring.nodes[attachment.edge.source]
        for attachment in wiring.attachments(node.id)
        if attachment.type is PortType.MODEL
    ]
    chains = [_models_of(wiring.templates[owner.id], owner) for owner in (attached or [node])]
    rows = [
        ("model", [model for chain in chains for model in chain[:1]]),
        ("fallback", [model for chain in chains for model in chain[1:]]),
    ]
    return [(subject.words[name], plain(subject.mask.text(", ".join(models)))) for name, models in rows if models]


def _models_of(template: Template | None, node: Node) -> list[str]:
    """Return the model of a node, and its fallback models in order."""
    fields = [field for field in template.fields if field.kind is FieldKind.MODEL] if template else []
    names = [field.name for field in fields] or ["model"]
    for name in names:
        value = node.params.get(name, node.linked.get(name))
        if value:
            fallback = value.get(MODEL_FALLBACK) if isinstance(value, dict) else None
            models = [value, *(fallback if isinstance(fallback, list) else ())]
            return [model for model in map(_model_name, models) if model]
    return []


def _model_name(value: Any) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return "/".join(str(value[part]) for part in ("provider", "name") if value.get(part))
    return value if isinstance(value, str) else ""


def _call(subject: Subject, name: str, call: HttpCall | None) -> list[tuple[str, str]]:
    """Return a URL and the names of its headers; header values may be keys."""
    if call is None:
        return []
    rows = [(name, plain(subject.mask.text(call.url)))]
    return [*rows, (subject.words["headers"], plain(", ".join(call.headers)))] if call.headers else rows


def _set_values(subject: Subject, node: Node) -> Iterator[str]:
    """Return the configured values of a node: short ones in a table, prompts and code below it."""
    labels, template = subject.words, subject.wiring.templates[node.id]
    short: list[tuple[str, str]] = []
    long: list[tuple[str, str]] = []
    for name, value in (dict(node.linked) | dict(node.params)).items():
        field = template.field(name) if template else None
        if field is not None and field.kind is FieldKind.MODEL:
            continue
        label = field.label if field is not None and field.label else name
        formatted = _shown(subject, field.kind if field else None, name, value)
        in_block = (
            (field is not None and field.kind in _IN_BLOCKS and formatted)
            or len(formatted) > _LONG
            or "\n" in formatted
        )
        (long if in_block else short).append((label, formatted))
    if short:
        yield facts([(label, plain(text)) for label, text in short], (labels["setting"], labels["value"]))
    for label, formatted in long:
        yield f"**{plain(label)}**"
        yield block(formatted, cut_off=labels["cut_off"])
    if node.code is not None:
        yield f"**{labels['code']}** (SHA-256 {sha256_of(node.code)})"
        yield block(subject.mask.text(node.code), cut_off=labels["cut_off"])


def _shown(subject: Subject, kind: FieldKind | None, name: str, value: Any) -> str:  # noqa: ANN401 - any JSON value
    if kind is FieldKind.SECRET:
        return subject.words["variable"].format(name=SecretReference.parse(value).name) if is_reference(value) else ""
    if name == "headers" and isinstance(value, dict):
        return f"{subject.words['headers']}: {', '.join(map(str, value))}"
    (clean,) = subject.mask.technical({name: value}).values()
    return clean if isinstance(clean, str) else as_json(clean)


def _contracts(subject: Subject, node: Node) -> Iterator[str]:
    labels = subject.words
    for name, contract in (
        ("input_contract", node.policy.input_contract),
        ("output_contract", node.policy.output_contract),
    ):
        if contract is not None:
            yield f"**{labels[name]}**"
            yield block(as_json(subject.mask.content(contract)), cut_off=labels["cut_off"])


def _outcome(subject: Subject, ran: Ran, step: str) -> Iterator[str]:
    labels, entry = subject.words, ran.steps[step]
    cost = ran.costs.get(step, UNKNOWN)
    error: Mapping[str, Any] | None = entry.get("error")
    head = [labels[name] for name in ("outcome", "took", "tokens", "cost", "attempts")]
    status = str(entry["status"])
    row = [
        f"**{plain(labels.get(status, status))}**",
        took(cost.ms),
        tokens(cost),
        price(cost, labels["unknown"]),
        str(len(entry.get("attempts") or ()) or ""),
    ]
    yield table(head, [row])
    if error:
        title = labels["continued" if status == "completed" else "error"]
        yield f"{title}: {plain(str(error.get('message')))} ({plain(str(error.get('code')))})"
    if entry.get("reused_from_run_id"):
        yield f"{labels['reused']} {plain(str(entry['reused_from_run_id']))}"
    replayed = (entry.get("model_parameters") or {}).get("replayed")
    if replayed:
        spent = replayed["tokens_input"] + replayed["tokens_output"]
        yield plain(labels["replayed"].format(calls=replayed["calls"], tokens=spent))
    if entry.get("effective_prompt"):
        yield f"**{labels['prompt']}**"
        yield block(str(entry["effective_prompt"]), cut_off=labels["cut_off"])
    yield from history(labels, entry)
