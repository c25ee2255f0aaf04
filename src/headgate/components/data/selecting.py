"""JMESPath over data, limited in time and size. It blocks: components call it through `isolated.calls`."""

import time
from typing import Any

import jmespath
from jmespath import exceptions, visitor
from pydantic import JsonValue

from headgate.components.data.json_text import parse_json
from headgate.graph.names import clipped
from headgate.sdk import ComponentError

LONGEST_EXPRESSION = 4_000
MOST_VALUES = 1_000_000
"""Maximum values in a result or an intermediate list."""
SECONDS = 5.0


_FAULTS = (exceptions.JMESPathError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class _TooMuch(Exception):
    """The evaluation exceeded a limit."""


def select(expression: str, value: JsonValue, *, subject: str, location: str = "expression") -> JsonValue:
    """Return the part of a value that a JMESPath expression selects; null when nothing matches.

    Raises `ComponentError` for a malformed expression, a wrong type in a function, too much time or too large a result.
    """
    parsed = parse_expression(expression, subject=subject, location=location)
    try:
        result: JsonValue = _Bounded(SECONDS).visit(parsed, value)
        _weigh(result, MOST_VALUES)
    except _TooMuch as error:
        raise ComponentError(f"{subject}: {error}", remedy="Select less, or from less data.", field=location) from error
    except _FAULTS as error:
        raise _does_not_work(expression, error, subject, location) from error
    return result


def parse_expression(expression: str, *, subject: str, location: str = "expression") -> Any:  # noqa: ANN401 - has no types
    """Return the syntax tree of a JMESPath expression. Raises `ComponentError` for a malformed or overlong one."""
    if len(expression) > LONGEST_EXPRESSION:
        raise ComponentError(
            f"{subject}: the expression has {len(expression)} characters; the limit is {LONGEST_EXPRESSION}.",
            field=location,
        )
    try:
        return jmespath.compile(expression).parsed
    except _FAULTS as error:
        raise _does_not_work(expression, error, subject, location) from error


def _does_not_work(expression: str, error: Exception, subject: str, location: str) -> ComponentError:
    return ComponentError(
        f"{subject}: the expression {clipped(expression, 60)!r} failed: {_first_line(error)}.",
        remedy='It is JMESPath, for example items[?price > `10`].name; put names like "årsvis" in double quotes.',
        field=location,
    )


def part_of(value: JsonValue, path: str, *, subject: str) -> JsonValue:
    """Return the part of a value that a JMESPath expression selects; JSON text is parsed first."""
    if isinstance(value, str):
        value = parse_json(value, subject=subject, error_of=lambda reason: _no_fields(path, reason, subject))
    return select(path, value, subject=subject, location="field")


def _no_fields(path: str, reason: str, subject: str) -> ComponentError:
    return ComponentError(
        f"{subject}: the value is text without fields, so it has no '{path}' ({reason}).",
        remedy="Leave 'field' empty to compare the text itself.",
        field="field",
    )


class _Bounded(visitor.TreeInterpreter):
    """JMESPath's interpreter with limits of time and of the size of flattened, multiplied and computed lists."""

    _GROWING = frozenset({"flatten", "multi_select_list", "multi_select_dict", "function_expression"})

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._until = time.monotonic() + seconds
        self._seconds = seconds
        self._made = 0

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the parser has no types
        if time.monotonic() > self._until:
            raise _TooMuch(f"the expression ran for more than {self._seconds:g} seconds.")
        result = super().visit(node, *args, **kwargs)
        if node["type"] in self._GROWING:
            self._made += _weigh(result, MOST_VALUES)
        if self._made > 3 * MOST_VALUES:
            raise _TooMuch(f"the expression produces more than {3 * MOST_VALUES} intermediate values.")
        return result

    def visit_flatten(self, node: Any, value: Any) -> Any:  # noqa: ANN401
        base = self.visit(node["children"][0], value)
        if not isinstance(base, list):
            return None
        if sum(len(item) if isinstance(item, list) else 1 for item in base) > MOST_VALUES:
            raise _TooMuch(f"the expression produces a list of more than {MOST_VALUES} values.")
        return [inner for item in base for inner in (item if isinstance(item, list) else [item])]


def _weigh(value: object, limit: int) -> int:
    """Count values as serialised: a list shared ten times counts ten times, long text by its length."""
    count = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        count += len(item) // 100 + 1 if isinstance(item, str) else 1
        if count > limit:
            raise _TooMuch(f"the expression produces more than {limit} values.")
        if isinstance(item, list):
            if len(item) > limit:
                raise _TooMuch(f"the expression produces more than {limit} values.")
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
    return count


def _first_line(error: Exception) -> str:
    return clipped(str(error).strip().partition("\n")[0].rstrip(".:"), 200)
