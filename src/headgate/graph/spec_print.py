"""Prints a flow as spec text in canonical form."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from pydantic import BaseModel, JsonValue

from headgate.graph.model import Flow, FlowSettings, FormField, HttpCall, Node, RetryPolicy, StepPolicy
from headgate.graph.spec_values import (
    MAX_PRINTED_DEPTH,
    block_header,
    block_rows,
    inline,
    key,
    looks_like_member,
    scalar,
)

RESERVED = frozenset({"label", "code", "policy", "params"})
"""Names below a node that are not params; params with these names are listed below `params:`."""

_CALLS = frozenset({"input_config", "output_config"})
"""Members of a policy that are always written as lines: their bodies are JSON, which is hard to read in quotes."""


TRIGGER_PARTS = ("policies", "input")
"""Members of a trigger that are not settings of its kind."""


def print_spec(flow: Flow, triggers: Sequence[JsonValue] = ()) -> str:
    """Return the spec text of a flow without positions. `parse_spec` returns the same flow.

    Args:
        flow: The flow.
        triggers: Its triggers as in its JSON file: `name`, `config` with `kind`, `policies`, `input`.
    """
    return "\n".join([*_flow(flow), *_triggers(triggers)]) + "\n"


def _triggers(triggers: Sequence[JsonValue]) -> Iterator[str]:
    if triggers:
        yield "triggers:"
    for trigger in cast("Sequence[dict[str, dict[str, JsonValue]]]", triggers):
        yield f"  {key(cast('str', trigger['name']))}: {trigger['config']['kind']}"
        yield from _members({name: value for name, value in trigger["config"].items() if name != "kind"}, 4)
        yield from _members({part: trigger[part] for part in TRIGGER_PARTS if part in trigger}, 4)


def _flow(flow: Flow) -> Iterator[str]:
    yield from _member("name", flow.name, 0)
    if flow.description:
        yield from _member("description", flow.description, 0)
    if flow.nodes:
        yield "nodes:"
        for node in flow.nodes:
            yield from _node(node)
    if flow.edges:
        yield "edges:"
        yield from (f"  {edge.id}" for edge in flow.edges)
    if flow.form:
        yield "form:"
        for field in flow.form:
            yield from _form_field(field)
    settings = changed_members(flow.settings, FlowSettings())
    if settings:
        yield "settings:"
        yield from _members(settings, 2)


def _node(node: Node) -> Iterator[str]:
    yield f"  {node.id}: {node.type}"
    if node.label:
        yield from _member("label", node.label, 4)
    yield from _members({name: value for name, value in node.params.items() if name not in RESERVED}, 4)
    clashing = {name: value for name, value in node.params.items() if name in RESERVED}
    if clashing:
        yield "    params:"
        yield from _members(clashing, 6)
    if node.code is not None:
        yield from _member("code", node.code, 4)
    policy = changed_members(node.policy, StepPolicy())
    if policy:
        yield "    policy:"
        for name, value in policy.items():
            if name in _CALLS and isinstance(value, dict):
                yield f"      {name}:"
                yield from _members(value, 8)
            else:
                yield from _member(name, value, 6)


def _form_field(field: FormField) -> Iterator[str]:
    yield f"  {key(field.id)}: {field.type}"
    yield from _members(
        {
            name: value
            for name, value in changed_members(field, FormField(id="x")).items()
            if name in {"label", "required", "private", "min", "max"}
        },
        4,
    )
    if field.options:
        yield from _member("options", list(field.options), 4)


def changed_members(value: BaseModel, default: BaseModel) -> dict[str, JsonValue]:
    """The members of a model that differ from the default, in order; calls and retries without their defaults."""
    members: dict[str, JsonValue] = {}
    for name in type(value).model_fields:
        member = getattr(value, name)
        if member == getattr(default, name):
            continue
        if isinstance(member, HttpCall):
            members[name] = {"url": member.url, **changed_members(member, HttpCall(url=member.url))}
        elif isinstance(member, RetryPolicy):
            attempts = member.max_attempts
            members[name] = {"max_attempts": attempts, **changed_members(member, RetryPolicy(max_attempts=attempts))}
        else:
            members[name] = value.model_dump(mode="json", include={name})[name]
    return members


def _members(values: Mapping[str, JsonValue], indent: int, depth: int = 1) -> Iterator[str]:
    for name, value in values.items():
        yield from _member(name, value, indent, depth)


def _member(name: str, value: JsonValue, indent: int, depth: int = 1) -> Iterator[str]:
    """`name: value` on one line, or a name with lines below it."""
    start = " " * indent + key(name) + ":"
    word = _word(value, depth)
    if word is not None:
        yield f"{start} {word}"
        return
    if isinstance(value, str):
        yield f"{start} {block_header(value)}"
        yield from block_rows(value, indent)
        return
    yield start
    yield from _below(value, indent + 2, depth + 1)


def _below(value: JsonValue, indent: int, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _members(value, indent, depth)
    elif isinstance(value, list):
        for item in value:
            yield from _item(item, indent, depth)


def _item(value: JsonValue, indent: int, depth: int) -> Iterator[str]:
    start = " " * indent + "-"
    word = _word(value, depth)
    if word is not None:
        yield f"{start} {inline(value) if isinstance(value, str) and looks_like_member(word) else word}"
    elif isinstance(value, str):
        yield f"{start} {block_header(value)}"
        yield from block_rows(value, indent)
    else:
        yield start
        yield from _below(value, indent + 2, depth + 1)


def _word(value: JsonValue, depth: int) -> str | None:
    """Return the value on one line, even when long at deep nesting; None when it takes several."""
    return scalar(value) if depth <= MAX_PRINTED_DEPTH else scalar(value) or inline(value)
