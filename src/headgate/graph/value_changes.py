"""Changes between two values of the flow model, member by member, and their one-line descriptions."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, JsonValue

from headgate.graph.model import Flow, FormField, HttpCall, Node, StepPolicy

SHOWN_WIDTH = 48
"""Maximum characters of a value in a line."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One member that changed."""

    path: str
    """`params.url`, `label`, `policy.input_config.url`, `form.topic`, `settings.icon`."""
    kind: Literal["added", "removed", "changed"]
    before: JsonValue = None
    after: JsonValue = None

    def as_json(self) -> dict[str, JsonValue]:
        """Return the change as a JSON object; `before` and `after` only when present."""
        document: dict[str, JsonValue] = {"path": self.path, "kind": self.kind}
        if self.kind != "added":
            document["before"] = self.before
        if self.kind != "removed":
            document["after"] = self.after
        return document

    def __str__(self) -> str:
        if self.kind == "added":
            return f"{self.path} set to {shown(self.after)}"
        if self.kind == "removed":
            return f"{self.path} removed, was {shown(self.before)}"
        before, after = shown_apart(self.before, self.after)
        return f"{self.path}: {before} -> {after}"


def node_changes(before: Node, after: Node) -> tuple[ValueChange, ...]:
    """Return the changes of a node, except for id and position."""
    changes: list[ValueChange] = []
    for name in ("type", "label", "code"):
        changes += _member(name, getattr(before, name) or None, getattr(after, name) or None)
    changes += mapping_changes("params", before.params, after.params)
    changes += mapping_changes("linked", before.linked, after.linked)
    changes += policy_changes(before.policy, after.policy)
    return tuple(changes)


def policy_changes(before: StepPolicy, after: StepPolicy) -> Iterator[ValueChange]:
    """Return the changes of a step policy; a web request is compared member by member."""
    if before == after:
        return
    for name in StepPolicy.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, HttpCall) and isinstance(new, HttpCall):
            yield from mapping_changes(f"policy.{name}", _dump(old), _dump(new))
        else:
            yield from _member(f"policy.{name}", _json(before, name), _json(after, name))


def flow_changes(before: Flow, after: Flow) -> tuple[ValueChange, ...]:
    """Return the changes of a flow outside its nodes and edges."""
    changes = [
        *_member("name", before.name, after.name),
        *_member("description", before.description or None, after.description or None),
        *mapping_changes("settings", _dump(before.settings), _dump(after.settings)),
    ]
    old, new = _form(before.form), _form(after.form)
    changes += mapping_changes("form", old, new)
    if not changes and list(old) != list(new):
        changes.append(ValueChange("form", "changed", list(old), list(new)))
    return tuple(changes)


def mapping_changes(
    path: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]
) -> Iterator[ValueChange]:
    """Return the changes of an object, member by member, in the order of `before` and then of new members."""
    for name in dict.fromkeys([*before, *after]):
        inner = f"{path}.{name}"
        if name not in after:
            yield ValueChange(inner, "removed", before[name])
        elif name not in before:
            yield ValueChange(inner, "added", None, after[name])
        elif not same(before[name], after[name]):
            yield ValueChange(inner, "changed", before[name], after[name])


def same(before: JsonValue, after: JsonValue) -> bool:
    """Return whether two JSON values are equal; `1`, `1.0` and `true` are different."""
    return before == after and (type(before) is type(after)) and _text(before) == _text(after)


def shown(value: JsonValue) -> str:
    """Return a value in a line: JSON, cut with an ellipsis."""
    return _cut(_text(value), 0)


def shown_apart(before: JsonValue, after: JsonValue) -> tuple[str, str]:
    """Return two values in a line, cut around the first difference."""
    old, new = _text(before), _text(after)
    first = next((index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, first - SHOWN_WIDTH // 3) if max(len(old), len(new)) > SHOWN_WIDTH else 0
    return _cut(old, start), _cut(new, start)


def _cut(text: str, start: int) -> str:
    excerpt = text[start : start + SHOWN_WIDTH]
    return ("…" if start else "") + excerpt + ("…" if start + SHOWN_WIDTH < len(text) else "")


def _member(path: str, before: JsonValue, after: JsonValue) -> list[ValueChange]:
    if same(before, after):
        return []
    if before is None:
        return [ValueChange(path, "added", None, after)]
    return [ValueChange(path, "removed" if after is None else "changed", before, after)]


def _form(fields: tuple[FormField, ...]) -> dict[str, JsonValue]:
    return {field.id: _dump(field) for field in fields}


def _dump(value: BaseModel) -> dict[str, JsonValue]:
    return value.model_dump(mode="json", exclude={"id"} if isinstance(value, FormField) else None)


def _json(value: BaseModel, name: str) -> JsonValue:
    """Return a member as JSON; of a web request only what was set."""
    member = getattr(value, name)
    if isinstance(member, HttpCall):
        return member.model_dump(mode="json", exclude_defaults=True)
    content: JsonValue = value.model_dump(mode="json", include={name})[name]
    return content


def _text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
