"""The text of a description as JSON values: JSON or YAML, of limited size and depth."""

import re
from collections.abc import Mapping
from typing import Any

import orjson
import yaml

from headgate.components.readers.api.description import MOST_BYTES, unreadable

MOST_DEPTH = 200
_BOOLEAN = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML as OpenAPI reads it: `yes` and dates are text, as in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, regex) for tag, regex in resolvers if tag not in {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool"}
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOLEAN, list("tTfF"))


def parsed(content: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON or YAML document. Raises `Unreadable` with line and column."""
    if len(content) > MOST_BYTES:
        raise unreadable(f"it has {len(content)} bytes; the limit is {MOST_BYTES}")
    text = content.decode("utf-8-sig", errors="replace").lstrip()
    value = _json(text) if text[:1] in {"{", "["} else _yaml(text)
    _check_depth(value)
    return value


def _json(text: str) -> Any:  # noqa: ANN401
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "recursion" in str(error):
            raise unreadable("it is nested too deep") from error
        try:
            return _yaml(text)  # YAML in flow style, or JSON with comments
        except Exception:  # noqa: BLE001 - the error of JSON says more
            raise unreadable(f"line {error.lineno}, column {error.colno}: {error.msg}") from error


def _yaml(text: str) -> Any:  # noqa: ANN401
    try:
        _check_events(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise unreadable(f"{place}{error.problem or 'it is not YAML'}") from error
    except RecursionError as error:
        raise unreadable("it is nested too deep") from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise unreadable(f"it is neither JSON nor YAML: {error}") from error


def _check_events(text: str) -> None:
    """Raise `Unreadable` for text that is nested too deep: libyaml would end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEPTH:
            raise unreadable("it is nested too deep")


def _check_depth(value: Any) -> None:  # noqa: ANN401
    """Raise `Unreadable` for a value that is nested too deep; an alias of YAML may even contain itself.

    An object that YAML aliases share is counted once, so that a few lines of aliases cost no more than their text.
    """
    seen: set[int] = set()
    level, layer = 0, [value]
    while layer:
        level += 1
        if level > MOST_DEPTH:
            raise unreadable(f"it is nested more than {MOST_DEPTH} levels deep")
        following: list[Any] = []
        for outer in layer:
            inners = outer.values() if isinstance(outer, Mapping) else outer if isinstance(outer, list) else ()
            for inner in inners:
                if isinstance(inner, dict | list) and id(inner) not in seen:
                    seen.add(id(inner))
                    following.append(inner)
        layer = following
