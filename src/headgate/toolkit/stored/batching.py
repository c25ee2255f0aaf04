"""Batches of operations, each of which may use the results of earlier ones."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.foundation.errors import HeadgateError, NotFound
from headgate.graph.names import did_you_mean
from headgate.toolkit.stored.operation import Operation, OperationFailed, error_answer, operation
from headgate.toolkit.stored.references import resolve
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.tool import Result

MOST_ACTIONS = 100
_LONGEST_TEXT = 400
"""Characters of one text in a batch result; a single call returns more."""


class UnknownTool(NotFound):
    """No tool has that name."""

    code = "unknown_tool"
    title = "Unknown tool"


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
