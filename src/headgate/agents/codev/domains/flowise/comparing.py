"""Differences between two chatflows, by node and input. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
from headgate.agents.codev.domains.flowise.quoting import one_line, quoted
from headgate.foundation.log import redact
from headgate.graph.value_changes import shown_apart

_MEMBERS = (("key", "value"), ("name", "value"), ("variableName", "variableValue"))
"""What Flowise calls the name and the value of a pair."""


def pairs_of(was: Any, now: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:  # noqa: ANN401 - JSON
    """Two lists of pairs by name, one of them empty perhaps; None where they are something else."""
    lists = [value if isinstance(value, list) else [] if value in (None, "", False) else None for value in (was, now)]
    if None in lists:
        return None
    before, after = ([pair if isinstance(pair, dict) else {} for pair in rows or ()] for rows in lists)
    every = [*before, *after]
    if not all(map(_name_of, every)) or not any(value_member(pair) in pair for pair in every):
        return None
    return _by_name(before), _by_name(after)


def value_member(pair: Mapping[str, Any]) -> str:
    """Return the name of its value member; `value` for a non-pair."""
    return next((value for name, value in _MEMBERS if text_of(pair.get(name))), "value")


def is_secret_name(name: str) -> bool:
    """Whether a name indicates a secret."""
    return bool(redact({name: "x"}) != {name: "x"})


def is_secret_pair(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether the value of a pair is secret: any with a `key`, others by name or content."""
    if not isinstance(value, dict) or value_member(value) not in value:
        return False
    return redact(value) != value or is_secret_name(_name_of(value))


def holds_secret(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether such a pair is in it."""
    if isinstance(value, list):
        return any(map(holds_secret, value))
    return isinstance(value, dict) and (is_secret_pair(value) or any(map(holds_secret, value.values())))


def _by_name(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A name that is there again has a number."""
    times: Counter[str] = Counter()
    named: dict[str, Any] = {}
    for pair in pairs:
        name = _name_of(pair)
        times[name] += 1
        named[name if times[name] == 1 else f"{name} ({times[name]})"] = pair
    return named


def _name_of(pair: Mapping[str, Any]) -> str:
    return next((name_text for name, _value in _MEMBERS if (name_text := text_of(pair.get(name)))), "")


MOST_LINES = 200
LONGEST_LINE = 1000
"""Characters; ids of nodes are of any length."""


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[str]:
    """Return lines that begin with `+`, `-` or `~`; for a secret only that it changed."""
    lines: list[str] = []
    for line in _lines(before or {}, after):
        if len(lines) >= MOST_LINES:
            return [*lines, "~ and more"]
        lines.append(one_line(line, LONGEST_LINE))
    return lines


def _lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old, new = ({id_of(node): data_of(node) for node in nodes_of(flow)} for flow in (before, after))
    for node_id, data in new.items():
        if node_id not in old:
            yield f"+ {node_id}: {quoted(data.get('name'), 100)}"
            yield from _changed(node_id, {}, data, "+")
    for node_id, data in old.items():
        if node_id not in new:
            yield f"- {node_id}: {quoted(data.get('name'), 100)}"
    for node_id in [key for key in new if key in old]:
        yield from _changed(node_id, old[node_id], new[node_id], "~")
        if old[node_id] != new[node_id] and not any(_changed(node_id, old[node_id], new[node_id], "~")):
            yield f"~ {node_id}: how it is described changed"
    was, now = ({_named(edge) for edge in edges_of(flow)} for flow in (before, after))
    yield from (f"+ {connection}" for connection in sorted(now - was))
    yield from (f"- {connection}" for connection in sorted(was - now))


def _changed(node_id: str, old: Mapping[str, Any], new: Mapping[str, Any], sign: str) -> Iterator[str]:
    for name in ("name", "label"):
        if old and old.get(name) != new.get(name):
            yield f"~ {node_id}.{name}: {quoted(old.get(name), 80)} -> {quoted(new.get(name), 80)}"
    if credential_of(old) != credential_of(new):
        yield f"{sign} {node_id}.credential: {quoted(credential_of(new), 80) or 'none'}"
    if chosen_output(old) != chosen_output(new):
        yield f"{sign} {node_id}.output: {quoted(chosen_output(new), 80) or 'none'}"
    was, now = inputs_of(old), inputs_of(new)
    connected = {text_of(anchor.get("name")) for anchor in (*anchors_of(old), *anchors_of(new))}  # shown as edges
    for name in [*now, *(key for key in was if key not in now)]:
        if name == "credential" or name in connected:
            continue
        hidden = is_secret(new or old, name) or is_secret_name(name)
        for difference in _differing((name,), was.get(name), now.get(name), hidden=hidden):
            yield f"{difference.sign or sign} {node_id}.{quoted('.'.join(difference.path), 120)}{_values(difference)}"


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
        for number, (earlier, other) in enumerate(zip(was, now, strict=True)):
            yield from _differing((*path, str(number)), earlier, other, hidden=hidden)
    elif was != now and not (_is_empty(was) and _is_empty(now)):
        yield _Difference(path, was, now, hidden or holds_secret(was) or holds_secret(now))


def _of_pairs(path: tuple[str, ...], was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[_Difference]:
    for name in {**was, **now}:
        earlier, other = was.get(name), now.get(name)
        hidden = is_secret_pair(earlier) or is_secret_pair(other)
        if other is None:
            yield _Difference((*path, name), None, None, hidden, "-")
        elif earlier is None:
            yield _Difference((*path, name), None, other.get(value_member(other)), hidden, "+")
        else:
            for difference in _differing((*path, name), earlier, other, hidden=hidden):
                yield (
                    replace(difference, path=difference.path[:-1])
                    if difference.path[-1] == value_member(other)
                    else difference
                )


def _values(difference: _Difference) -> str:
    if difference.sign == "-" or (difference.sign and _is_empty(difference.now)):
        return ""
    if difference.hidden:
        return ": not shown" if difference.sign else ": changed, not shown"
    if _is_empty(difference.was):
        return (
            f": {quoted(difference.now if isinstance(difference.now, str) else str(shown_value(difference.now)), 120)}"
        )
    before, after = shown_apart(redact(difference.was), redact(difference.now))
    return f": {quoted(before)} -> {'empty' if _is_empty(difference.now) else quoted(after)}"


def _is_empty(value: object) -> bool:
    return value is None or value is False or value in ("", [])


def _named(edge: Mapping[str, Any]) -> str:
    taking = text_of(edge.get("targetHandle")).split("-input-")
    place = f".{taking[1].rpartition('-')[0]}" if len(taking) == 2 else ""
    giving = text_of(edge.get("sourceHandle")).partition("-output-")[2].partition("-")[0]
    return quoted(f"{text_of(edge.get('source'))}.{giving} -> {text_of(edge.get('target'))}{place}", 200)
