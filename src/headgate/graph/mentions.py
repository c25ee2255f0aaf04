"""Mentions of other steps in a node: the `{{...}}` in its params and its policy; and how to rewrite them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from headgate.graph.interpolate import REFERENCE, Reference, map_texts, references, references_in
from headgate.graph.model import HttpCall, Node, StepPolicy
from headgate.graph.template import Template


@dataclass(frozen=True, slots=True)
class Mention:
    """One reference and its location."""

    field: str
    """Param name, or `input_bindings.<field>`, `input_config.url` and similar for the policy."""
    reference: Reference
    own_output: bool = False
    """Whether it is resolved after the step ran, so that the step's own output is known too."""


def mentions(node: Node, template: Template | None = None) -> Iterator[Mention]:
    """Yield every reference of a node. Fields that the template does not interpolate are skipped."""
    for name, value in node.params.items():
        if interpolated(name, template):
            for reference in references_in(value):
                yield Mention(name, reference)
    yield from policy_mentions(node.policy)


def policy_mentions(policy: StepPolicy) -> Iterator[Mention]:
    """Yield every reference of a step policy."""
    for name, text in policy.input_bindings.items():
        for reference in references(text):
            yield Mention(f"input_bindings.{name}", reference)
    for place, call in (("input_config", policy.input_config), ("output_config", policy.output_config)):
        if call is not None:
            for member, text in _texts(call):
                for reference in references(text):
                    yield Mention(f"{place}.{member}", reference, own_output=place == "output_config")


def interpolated(field: str, template: Template | None) -> bool:
    """Return whether `{{...}}` in a field is resolved before the step runs."""
    field_template = template.field(field) if template is not None else None
    return field_template is None or field_template.interpolate


def rename_roots(node: Node, roots: Mapping[str, str], template: Template | None = None) -> Node:
    """Return the node with the first word of its references replaced; the same object when nothing changes."""
    return rename_paths(node, root_paths(roots), template)


def root_paths(roots: Mapping[str, str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return new first words as paths for `rename_paths`; computed once when many nodes are updated."""
    return {(old,): (new,) for old, new in roots.items()}


def rename_paths(
    node: Node, paths: Mapping[tuple[str, ...], tuple[str, ...]], template: Template | None = None
) -> Node:
    """Return the node with the beginnings of its references replaced; the same object when nothing changes.

    Args:
        node: The node.
        paths: Beginning of a path, of one or two words, to its replacement.
        template: Determines which fields are not interpolated and stay unchanged.
    """
    if not paths:
        return node

    def change(text: str) -> str:
        return _renamed(text, paths)

    params = {
        name: map_texts(value, change) if interpolated(name, template) else value for name, value in node.params.items()
    }
    policy = _policy(node.policy, change)
    if params == node.params and policy == node.policy:
        return node
    return node.model_copy(update={"params": params, "policy": policy})


def _renamed(text: str, paths: Mapping[tuple[str, ...], tuple[str, ...]]) -> str:
    if "{{" not in text:
        return text

    def put(match: re.Match[str]) -> str:
        path = tuple(match[1].split("."))
        size = next((size for size in (1, 2) if path[:size] in paths), 0)
        if not size:
            return match[0]
        path_text = ".".join(paths[path[:size]] + path[size:])
        start = match.start(1) - match.start()
        return match[0][:start] + path_text + match[0][start + len(match[1]) :]

    return REFERENCE.sub(put, text)


def _texts(call: HttpCall) -> list[tuple[str, str]]:
    return [("url", call.url), ("body", call.body), *_header_texts(call)]


def _header_texts(call: HttpCall) -> list[tuple[str, str]]:
    return [(f"headers.{key}", text) for key, text in call.headers.items() if isinstance(text, str)]


def _policy(policy: StepPolicy, change: Callable[[str], str]) -> StepPolicy:
    return policy.model_copy(
        update={
            "input_bindings": {name: change(text) for name, text in policy.input_bindings.items()},
            "input_config": _call(policy.input_config, change),
            "output_config": _call(policy.output_config, change),
        }
    )


def _call(call: HttpCall | None, change: Callable[[str], str]) -> HttpCall | None:
    if call is None:
        return None
    headers = {name: change(text) if isinstance(text, str) else text for name, text in call.headers.items()}
    return call.model_copy(update={"url": change(call.url), "body": change(call.body), "headers": headers})
