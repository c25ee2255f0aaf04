"""Each step of an audit report: what it is, what it may do, what it was told, and what became of it. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.features.runs.report.figures import price, tokens, took
from headgate.features.runs.report.markdown import as_json, block, facts, plain, table
from headgate.features.runs.report.subject import Ran, Subject
from headgate.features.runs.reruns.costs import UNKNOWN
from headgate.graph.canonical import sha256_of
from headgate.graph.model import HttpCall, Node
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import SecretReference, is_reference
from headgate.graph.template import FieldKind, Template

_LONG = 90
"""Characters: a longer value is a block below the table."""
_IN_BLOCKS = frozenset({FieldKind.CODE, FieldKind.MULTILINE, FieldKind.MESSAGE, FieldKind.JSON, FieldKind.TABLE})


def step_pages(subject: Subject) -> Iterator[str]:
    """Every step, in the order in which they run; steps of a circle last."""
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
    """What is no step: models, tools, notes."""
    words, wiring = subject.words, subject.wiring
    others = [node for key, node in wiring.nodes.items() if key not in set(wiring.steps) and key not in wiring.notes]
    if not others:
        return
    yield f"## {words['other_nodes']}"
    for node in others:
        yield f"### {plain(subject.mask.text(node.label or node.id))}"
        yield facts(
            [(words["id"], plain(node.id)), (words["component"], _component(subject, node)), *_model(subject, node)],
            (words["what"], words["value"]),
        )
        yield from _set_values(subject, node)


def _about(subject: Subject, node: Node) -> str:
    words, policy, wiring = subject.words, node.policy, subject.wiring
    override = policy.output_classification_override
    drawn = subject.nodes.get(node.id)
    allowed = words["all_tools"]
    if policy.tool_policy == "restricted":
        allowed = words["only"].format(names=", ".join(policy.tool_allowlist) or "–")
    tools = [one.edge.source for one in wiring.attachments(node.id) if one.type is PortType.TOOL]
    sources = dict.fromkeys(f"{one.edge.source}.{one.edge.output}" for one in wiring.data_into(node.id))
    rows = [
        (words["id"], plain(node.id)),
        (words["component"], _component(subject, node)),
        *_model(subject, node),
        (words["class"], _class_of(drawn.classification) if drawn else ""),
        (words["override"], "" if override is None else f"K{override}"),
        (
            words["input"],
            plain(f"{words['from_' + policy.input_source.value]}, {words['of_' + policy.input_type.value]}"),
        ),
        (words["takes"], plain(", ".join(sources))),
        (words["output"], plain(f"{words['to_' + policy.output_mode]}, {words['of_' + policy.output_type.value]}")),
        *_call(subject, words["fetches"], policy.input_config),
        *_call(subject, words["delivers"], policy.output_config),
        (words["tools"], plain(", ".join(tools))),
        (words["policy"], plain(allowed) if tools or policy.tool_policy == "restricted" else ""),
    ]
    return facts(rows, (words["what"], words["value"]))


def _component(subject: Subject, node: Node) -> str:
    template = subject.wiring.templates[node.id]
    return plain(f"{template.label} ({node.type})" if template and template.label != node.type else node.type)


def _class_of(found: Any) -> str:  # noqa: ANN401 - a class or nothing
    return plain(f"K{found.level} {found.name}") if found is not None else ""


def _model(subject: Subject, node: Node) -> list[tuple[str, str]]:
    """The models of a node: its own, or those that are attached to it."""
    wiring = subject.wiring
    attached = [wiring.nodes[one.edge.source] for one in wiring.attachments(node.id) if one.type is PortType.MODEL]
    found = [name for one in (attached or [node]) if (name := _model_name(wiring.templates[one.id], one))]
    return [(subject.words["model"], plain(subject.mask.text(", ".join(found))))] if found else []


def _model_name(template: Template | None, node: Node) -> str:
    fields = [field for field in template.fields if field.kind is FieldKind.MODEL] if template else []
    names = [field.name for field in fields] or ["model"]
    for name in names:
        value = node.params.get(name, node.linked.get(name))
        if isinstance(value, dict):
            return "/".join(str(value[part]) for part in ("provider", "name") if value.get(part))
        if isinstance(value, str) and value:
            return value
    return ""


def _call(subject: Subject, name: str, call: HttpCall | None) -> list[tuple[str, str]]:
    """An address and the names of its headers; a value of one may be a key."""
    if call is None:
        return []
    rows = [(name, plain(subject.mask.text(call.url)))]
    return [*rows, (subject.words["headers"], plain(", ".join(call.headers)))] if call.headers else rows


def _set_values(subject: Subject, node: Node) -> Iterator[str]:
    """What was set in a node: short values in a table, prompts and code below it."""
    words, template = subject.words, subject.wiring.templates[node.id]
    short: list[tuple[str, str]] = []
    long: list[tuple[str, str]] = []
    for name, value in (dict(node.linked) | dict(node.params)).items():
        field = template.field(name) if template else None
        if field is not None and field.kind is FieldKind.MODEL:
            continue
        label = field.label if field is not None and field.label else name
        shown = _shown(subject, field.kind if field else None, name, value)
        in_block = (field is not None and field.kind in _IN_BLOCKS and shown) or len(shown) > _LONG or "\n" in shown
        (long if in_block else short).append((label, shown))
    if short:
        yield facts([(label, plain(shown)) for label, shown in short], (words["setting"], words["value"]))
    for label, shown in long:
        yield f"**{plain(label)}**"
        yield block(shown, cut_off=words["cut_off"])
    if node.code is not None:
        yield f"**{words['code']}** (SHA-256 {sha256_of(node.code)})"
        yield block(subject.mask.text(node.code), cut_off=words["cut_off"])


def _shown(subject: Subject, kind: FieldKind | None, name: str, value: Any) -> str:  # noqa: ANN401 - any JSON value
    if kind is FieldKind.SECRET:
        return subject.words["variable"].format(name=SecretReference.parse(value).name) if is_reference(value) else ""
    if name == "headers" and isinstance(value, dict):
        return f"{subject.words['headers']}: {', '.join(map(str, value))}"
    (clean,) = subject.mask.technical({name: value}).values()
    return clean if isinstance(clean, str) else as_json(clean)


def _contracts(subject: Subject, node: Node) -> Iterator[str]:
    words = subject.words
    for name, contract in (
        ("input_contract", node.policy.input_contract),
        ("output_contract", node.policy.output_contract),
    ):
        if contract is not None:
            yield f"**{words[name]}**"
            yield block(as_json(subject.mask.content(contract)), cut_off=words["cut_off"])


def _outcome(subject: Subject, ran: Ran, step: str) -> Iterator[str]:
    words, entry = subject.words, ran.steps[step]
    cost = ran.costs.get(step, UNKNOWN)
    error: Mapping[str, Any] | None = entry.get("error")
    head = [words[name] for name in ("outcome", "took", "tokens", "cost", "attempts")]
    status = str(entry["status"])
    row = [
        f"**{plain(words.get(status, status))}**",
        took(cost.ms),
        tokens(cost),
        price(cost, words["unknown"]),
        str(len(entry.get("attempts") or ()) or ""),
    ]
    yield table(head, [row])
    if error:
        yield f"{words['error']}: {plain(str(error.get('message')))} ({plain(str(error.get('code')))})"
    if entry.get("reused_from_run_id"):
        yield f"{words['reused']} {plain(str(entry['reused_from_run_id']))}"
    replayed = (entry.get("model_parameters") or {}).get("replayed")
    if replayed:
        spent = replayed["tokens_input"] + replayed["tokens_output"]
        yield plain(words["replayed"].format(calls=replayed["calls"], tokens=spent))
    if entry.get("effective_prompt"):
        yield f"**{words['prompt']}**"
        yield block(str(entry["effective_prompt"]), cut_off=words["cut_off"])
