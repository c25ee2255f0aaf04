"""What is different between two chatflows, by node and input. Pure."""

from collections.abc import Iterator, Mapping
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
from headgate.agents.codev.domains.flowise.quoting import quoted
from headgate.foundation.log import redact
from headgate.graph.value_changes import shown_apart

MOST_LINES = 200


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[str]:
    """Lines that begin with `+`, `-` or `~`; of a secret only that it changed."""
    found: list[str] = []
    for line in _lines(before or {}, after):
        if len(found) >= MOST_LINES:
            return [*found, "~ and more"]
        found.append(line)
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
        hidden = is_secret(new or old, name) or _holds_secret(was.get(name)) or _holds_secret(now.get(name))
        for path, one, other in _differing((name,), was.get(name), now.get(name)):
            secret = hidden or any(map(_hides, path))
            yield f"{sign} {node_id}.{quoted('.'.join(path), 120)}{_values(one, other, secret=secret)}"


def _differing(path: tuple[str, ...], one: Any, other: Any) -> Iterator[tuple[tuple[str, ...], Any, Any]]:  # noqa: ANN401 - JSON
    """Where two values are different, within objects and lists of the same length too."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            yield from _differing((*path, name), one.get(name), other.get(name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (was, now) in enumerate(zip(one, other, strict=True)):
            yield from _differing((*path, str(number)), was, now)
    elif one != other and not (_is_empty(one) and _is_empty(other)):
        yield path, one, other


def _hides(name: str) -> bool:
    """Whether what is called so is not shown, whatever it holds."""
    return bool(redact({name: "x"}) != {name: "x"})


def _holds_secret(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a pair in it is secret by its name: `{"key": "X-Api-Key", "value": ...}`."""
    if isinstance(value, list):
        return any(map(_holds_secret, value))
    if not isinstance(value, dict):
        return False
    return ("value" in value and redact(value) != value) or any(map(_holds_secret, value.values()))


def _values(one: Any, other: Any, *, secret: bool) -> str:  # noqa: ANN401 - JSON
    if secret:
        return ": changed, not shown"
    if _is_empty(one):
        return f": {quoted(other if isinstance(other, str) else str(shown_value(other)), 120)}"
    before, after = shown_apart(redact(one), redact(other))
    return f": {quoted(before)} -> {'empty' if _is_empty(other) else quoted(after)}"


def _is_empty(value: object) -> bool:
    return value is None or value is False or value in ("", [])


def _named(edge: Mapping[str, Any]) -> str:
    taking = text_of(edge.get("targetHandle")).split("-input-")
    place = f".{taking[1].rpartition('-')[0]}" if len(taking) == 2 else ""
    giving = text_of(edge.get("sourceHandle")).partition("-output-")[2].partition("-")[0]
    return quoted(f"{text_of(edge.get('source'))}.{giving} -> {text_of(edge.get('target'))}{place}", 200)
