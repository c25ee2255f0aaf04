"""JMESPath over data, bounded in time and size. It blocks: components call it through `isolated.calls`."""

import time
from typing import Any

import jmespath
from jmespath import exceptions, visitor
from pydantic import JsonValue

from headgate.components.json_text import parse_json
from headgate.graph.names import clipped
from headgate.sdk import ComponentError

LONGEST_EXPRESSION = 4_000
MOST_VALUES = 1_000_000
"""Most values a result, or any list on the way to it, may hold."""
SECONDS = 5.0


_FAULTS = (exceptions.JMESPathError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class _TooMuch(Exception):
    """The evaluation went past a bound."""


def select(expression: str, value: JsonValue, *, who: str, where: str = "expression") -> JsonValue:
    """What a JMESPath expression picks out of a value; null when nothing is there.

    Raises `ComponentError` on a malformed expression, a wrong type in a function, too much time or too large a result.
    """
    parsed = parse_expression(expression, who=who, where=where)
    try:
        found: JsonValue = _Bounded(SECONDS).visit(parsed, value)
        _weigh(found, MOST_VALUES)
    except _TooMuch as error:
        raise ComponentError(f"{who}: {error}", remedy="Select less, or from less data.", field=where) from error
    except _FAULTS as error:
        raise _does_not_work(expression, error, who, where) from error
    return found


def parse_expression(expression: str, *, who: str, where: str = "expression") -> Any:  # noqa: ANN401 - has no types
    """The syntax tree of a JMESPath expression. Raises `ComponentError` on a malformed or overlong one."""
    if len(expression) > LONGEST_EXPRESSION:
        raise ComponentError(
            f"{who}: the expression has {len(expression)} characters; at most {LONGEST_EXPRESSION} are read.",
            field=where,
        )
    try:
        return jmespath.compile(expression).parsed
    except _FAULTS as error:
        raise _does_not_work(expression, error, who, where) from error


def _does_not_work(expression: str, error: Exception, who: str, where: str) -> ComponentError:
    return ComponentError(
        f"{who}: the expression {clipped(expression, 60)!r} does not work: {_first_line(error)}.",
        remedy='It is JMESPath, for example items[?price > `10`].name; put names like "årsvis" in double quotes.',
        field=where,
    )


def part_of(value: JsonValue, path: str, *, who: str) -> JsonValue:
    """The part of a value that a JMESPath expression names; text that holds JSON is looked into."""
    if isinstance(value, str):
        value = parse_json(value, who=who, wrong=lambda reason: _no_fields(path, reason, who))
    return select(path, value, who=who, where="field")


def _no_fields(path: str, reason: str, who: str) -> ComponentError:
    return ComponentError(
        f"{who}: the value is text without fields, so '{path}' is not in it ({reason}).",
        remedy="Empty 'field' to compare the text itself.",
        field="field",
    )


class _Bounded(visitor.TreeInterpreter):
    """JMESPath's interpreter with a clock, and a scale on what grows: flattened, multiplied and computed lists."""

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
            raise _TooMuch(f"the expression makes more than {3 * MOST_VALUES} values on the way.")
        return result

    def visit_flatten(self, node: Any, value: Any) -> Any:  # noqa: ANN401
        base = self.visit(node["children"][0], value)
        if not isinstance(base, list):
            return None
        if sum(len(item) if isinstance(item, list) else 1 for item in base) > MOST_VALUES:
            raise _TooMuch(f"the expression makes a list of more than {MOST_VALUES} values.")
        return [inner for item in base for inner in (item if isinstance(item, list) else [item])]


def _weigh(value: object, most: int) -> int:
    """Count values as they would be written out: a list shared ten times counts ten times, long text by its length."""
    count = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        count += len(item) // 100 + 1 if isinstance(item, str) else 1
        if count > most:
            raise _TooMuch(f"the expression makes more than {most} values.")
        if isinstance(item, list):
            if len(item) > most:
                raise _TooMuch(f"the expression makes more than {most} values.")
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
    return count


def _first_line(error: Exception) -> str:
    return clipped(str(error).strip().partition("\n")[0].rstrip(".:"), 200)
