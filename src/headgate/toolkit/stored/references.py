"""`$N.field`: references in a batch to earlier results. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from headgate.foundation.errors import Invalid
from headgate.graph.names import did_you_mean, listed

_REFERENCE = re.compile(r"\$(?P<action>\d{1,4})(?P<path>(?:\.(?:[A-Za-z_][\w-]*|\d{1,6}))+)", re.ASCII)
_FIRST_IS_NAME = re.compile(r"\.[A-Za-z_]", re.ASCII)


MOST_BYTES = 1_000_000
"""Maximum size of all references of one action, as JSON: ten characters could expand to a complete flow."""


class BadReference(Invalid):
    """A reference names nothing in the results."""

    code = "bad_reference"
    title = "Wrong reference"


def resolve(value: Any, answers: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - JSON
    """Return a value with each reference text replaced by its target, of any type.

    `$0.flow_id` is a member of the first result; `$2.components.0.type` continues inside. Only a complete text is a
    reference; `$$0.flow_id` is the text `$0.flow_id`. Raises `BadReference`, also for more than `MOST_BYTES`.
    """
    return _Resolving(answers).value(value)


@dataclass(slots=True)
class _Resolving:
    """The references of one action, and their remaining size."""

    answers: Sequence[Mapping[str, Any]]
    left: int = MOST_BYTES

    def value(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, str):
            resolved = _resolved(value, self.answers)
            if resolved is not value:
                self._spend(resolved)
            return resolved
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return {key: self.value(member) for key, member in value.items()} if isinstance(value, dict) else value

    def _spend(self, resolved: Any) -> None:  # noqa: ANN401 - JSON
        self.left -= len(orjson.dumps(resolved))
        if self.left < 0:
            raise BadReference(
                f"The references of one action resolve to more than {MOST_BYTES} bytes.",
                remedy="Use fewer references or smaller values.",
            )


def _resolved(text: str, answers: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - JSON
    if text.startswith("$$") and _REFERENCE.fullmatch(text[1:]):
        return text[1:]
    match = _REFERENCE.fullmatch(text)
    if match is None or not _FIRST_IS_NAME.match(match["path"]):
        return text
    number = int(match["action"])
    if number >= len(answers):
        done = f"Only previous actions have results: {len(answers)} so far, the first is $0."
        raise BadReference(f"'{text}' refers to action {number}, which has no result.", remedy=done)
    here: Any = answers[number]
    walked = f"${number}"
    for part in match["path"][1:].split("."):
        here = _member(here, part, walked, text)
        walked = f"{walked}.{part}"
    return here


def _member(here: Any, part: str, walked: str, text: str) -> Any:  # noqa: ANN401 - JSON
    if isinstance(here, Mapping) and part in here:
        return here[part]
    if isinstance(here, list) and part.isdigit() and int(part) < len(here):
        return here[int(part)]
    if isinstance(here, Mapping):
        raise BadReference(
            f"Invalid reference '{text}': {walked} has no '{part}'{did_you_mean(part, list(here)) or '.'}",
            remedy=f"It has: {listed(here)}.",
        )
    what = f"a list of {len(here)}" if isinstance(here, list) else "a plain value"
    raise BadReference(f"Invalid reference '{text}': {walked} is {what}.", remedy="Lists are indexed from 0.")
