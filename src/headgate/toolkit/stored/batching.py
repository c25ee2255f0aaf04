"""Batches of operations, each of which may use the results of earlier ones."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.foundation.errors import HeadgateError, Invalid, NotFound
from headgate.graph.names import did_you_mean, listed
from headgate.toolkit.stored.operation import Operation, OperationFailed, error_answer, operation
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.tool import Result

MOST_ACTIONS = 100
_LONGEST_TEXT = 400
"""Characters of one text in a batch result; a single call returns more."""


class UnknownTool(NotFound):
    """No tool has that name."""

    code = "unknown_tool"


class Action(BaseModel):
    """One action of a batch."""

    model_config = ConfigDict(extra="forbid")

    tool: str = Field(max_length=100)
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class BatchAnswer(TypedDict):
    """Results of the actions, in order."""

    done: int
    results: list[dict[str, JsonValue]]


Actions = Annotated[list[Action], Field(min_length=1, max_length=MOST_ACTIONS)]


def batch_over(operations: Mapping[str, Operation]) -> Operation:
    """Return the operation `batch` over all others."""

    async def batch(visit: Visit, actions: Actions) -> BatchAnswer:
        """Call several tools in order. Stops at the first error; earlier actions keep their effect.

        A text '$N.field' in the arguments is replaced by the result of action N: '$0.flow_id', '$1.components.0.type'.
        The first action is $0.

        Args:
            actions: Each has the name of a tool and its arguments.
        """
        answers: list[Result] = []
        for number, action in enumerate(actions):
            visit.report(f"action {number}: {action.tool}")
            try:
                answers.append(await _one(visit, operations, action, answers))
            except OperationFailed as error:
                raise _stopped(number, actions, answers, error.answer) from error
            except HeadgateError as error:
                raise _stopped(number, actions, answers, error_answer(error)) from error
        return {"done": len(answers), "results": [_short(answer) for answer in answers]}

    return operation(batch, Permission.CATALOG_VIEW, "run")


async def _one(visit: Visit, operations: Mapping[str, Operation], action: Action, answers: list[Result]) -> Result:
    operation = operations.get(action.tool)
    if operation is None:
        hint = (
            "A batch cannot contain a batch." if action.tool == "batch" else did_you_mean(action.tool, list(operations))
        )
        raise UnknownTool(
            f"There is no tool '{action.tool}'. {hint}".strip(), remedy="List the tools to see their names."
        )
    return await operation.call(visit, resolve(action.arguments, answers))


def _stopped(number: int, actions: list[Action], answers: list[Result], cause: Result) -> OperationFailed:
    where = f"Action {number} ({actions[number].tool}): {cause.get('error', '')}"
    done = f" {number} of {len(actions)} actions were completed and are kept." if number else " Nothing was changed."
    return OperationFailed(
        cause | {"error": where + done, "failed_action": number, "results": [_short(answer) for answer in answers]}
    )


def _short(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]} ... [cut]"
    if isinstance(value, dict):
        return {key: _short(member) for key, member in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value


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
