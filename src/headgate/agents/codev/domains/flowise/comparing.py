"""Differences between two chatflows, by node and input. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from headgate.agents.codev.domains.flowise.compact import is_secret, shown_value
from headgate.agents.codev.domains.flowise.drawn import (
    anchors_of,
    chosen_output,
    credential_of,
    data_of,
    edges_of,
    id_of,
    inputs_of,
    nodes_of,
    text_of,
)
from headgate.agents.codev.domains.flowise.pairs import (
    holds_secret,
    is_secret_name,
    is_secret_pair,
    pairs_of,
    value_member,
)
from headgate.agents.codev.domains.flowise.quoting import quoted, told
from headgate.foundation.log import redact
from headgate.graph.value_changes import shown_apart

MOST_LINES = 200
LONGEST_LINE = 1000
"""Characters; ids of nodes are of any length."""


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[str]:
    """Return lines that begin with `+`, `-` or `~`; for a secret only that it changed."""
    found: list[str] = []
    for line in _lines(before or {}, after):
        if len(found) >= MOST_LINES:
            return [*found, "~ and more"]
        found.append(told(line, LONGEST_LINE))
    return found


def _lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old, new = ({id_of(one): data_of(one) for one in nodes_of(flow)} for flow in (before, after))
    for node_id, data in new.items():
        if node_id not in old:
            yield f"+ {node_id}: {quoted(data.get('name'), 100)}"
            yield from _changed(node_id, {}, data, "+")
    for node_id, data in old.items():
        if node_id not in new:
            yield f"- {node_id}: {quoted(data.get('name'), 100)}"
    for node_id in [one for one in new if one in old]:
        yield from _changed(node_id, old[node_id], new[node_id], "~")
        if old[node_id] != new[node_id] and not any(_changed(node_id, old[node_id], new[node_id], "~")):
            yield f"~ {node_id}: how it is described changed"
    was, now = ({_named(one) for one in edges_of(flow)} for flow in (before, after))
    yield from (f"+ {one}" for one in sorted(now - was))
    yield from (f"- {one}" for one in sorted(was - now))


def _changed(node_id: str, old: Mapping[str, Any], new: Mapping[str, Any], sign: str) -> Iterator[str]:
    for name in ("name", "label"):
        if old and old.get(name) != new.get(name):
            yield f"~ {node_id}.{name}: {quoted(old.get(name), 80)} -> {quoted(new.get(name), 80)}"
    if credential_of(old) != credential_of(new):
        yield f"{sign} {node_id}.credential: {quoted(credential_of(new), 80) or 'none'}"
    if chosen_output(old) != chosen_output(new):
        yield f"{sign} {node_id}.output: {quoted(chosen_output(new), 80) or 'none'}"
    was, now = inputs_of(old), inputs_of(new)
    connected = {text_of(one.get("name")) for one in (*anchors_of(old), *anchors_of(new))}  # told as edges
    for name in [*now, *(one for one in was if one not in now)]:
        if name == "credential" or name in connected:
            continue
        hidden = is_secret(new or old, name) or is_secret_name(name)
        for one in _differing((name,), was.get(name), now.get(name), hidden=hidden):
            yield f"{one.sign or sign} {node_id}.{quoted('.'.join(one.path), 120)}{_values(one)}"


@dataclass(frozen=True, slots=True)
class _Difference:
    """A changed value within an input."""

    path: tuple[str, ...]
    was: Any
    now: Any
    hidden: bool
    """Whether it may be secret."""
    sign: str = ""
    """`+` or `-` for a pair that came or went; empty for all else."""


def _differing(path: tuple[str, ...], was: Any, now: Any, *, hidden: bool) -> Iterator[_Difference]:  # noqa: ANN401 - JSON
    """Where two values are different: within objects, in lists of pairs by name, and in lists of the same length."""
    pairs = None if hidden else pairs_of(was, now)
    if pairs is not None:
        yield from _of_pairs(path, *pairs)
    elif isinstance(was, dict) and isinstance(now, dict):
        hidden = hidden or is_secret_pair(was) or is_secret_pair(now)
        for name in {**was, **now}:
            yield from _differing((*path, name), was.get(name), now.get(name), hidden=hidden or is_secret_name(name))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        hidden = hidden or holds_secret(was) or holds_secret(now)
        for number, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from _differing((*path, str(number)), one, other, hidden=hidden)
    elif was != now and not (_is_empty(was) and _is_empty(now)):
        yield _Difference(path, was, now, hidden or holds_secret(was) or holds_secret(now))


def _of_pairs(path: tuple[str, ...], was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[_Difference]:
    for name in {**was, **now}:
        one, other = was.get(name), now.get(name)
        hidden = is_secret_pair(one) or is_secret_pair(other)
        if other is None:
            yield _Difference((*path, name), None, None, hidden, "-")
        elif one is None:
            yield _Difference((*path, name), None, other.get(value_member(other)), hidden, "+")
        else:
            for found in _differing((*path, name), one, other, hidden=hidden):
                yield replace(found, path=found.path[:-1]) if found.path[-1] == value_member(other) else found


def _values(one: _Difference) -> str:
    if one.sign == "-" or (one.sign and _is_empty(one.now)):
        return ""
    if one.hidden:
        return ": not shown" if one.sign else ": changed, not shown"
    if _is_empty(one.was):
        return f": {quoted(one.now if isinstance(one.now, str) else str(shown_value(one.now)), 120)}"
    before, after = shown_apart(redact(one.was), redact(one.now))
    return f": {quoted(before)} -> {'empty' if _is_empty(one.now) else quoted(after)}"


def _is_empty(value: object) -> bool:
    return value is None or value is False or value in ("", [])


def _named(edge: Mapping[str, Any]) -> str:
    taking = text_of(edge.get("targetHandle")).split("-input-")
    place = f".{taking[1].rpartition('-')[0]}" if len(taking) == 2 else ""
    giving = text_of(edge.get("sourceHandle")).partition("-output-")[2].partition("-")[0]
    return quoted(f"{text_of(edge.get('source'))}.{giving} -> {text_of(edge.get('target'))}{place}", 200)
