"""Lists of pairs, such as headers: compared by name, with secret values. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from headgate.agents.codev.domains.flowise.drawn import text_of
from headgate.foundation.log import redact

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
