"""An arithmetic evaluator: a small part of Python's expressions, never executed as Python."""

import ast
import math
import operator
from collections.abc import Callable, Sequence

from headgate.graph.names import clipped, did_you_mean
from headgate.sdk import ComponentError

Number = int | float
LONGEST = 2_000
"""Maximum length of an expression, in characters."""
_DEEPEST = 300
_MOST_BITS = 4_000
"""Largest intermediate integer, in bits: 1,204 decimal digits."""


def _rounded(number: Number, digits: Number = 0) -> Number:
    """Round with bounded digits: Python's round(5, -10**9) would compute ten to that power."""
    return round(number, max(-400, min(400, int(digits))))


_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_CONSTANTS: dict[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_OF_LISTS: dict[str, Callable[[Sequence[Number]], Number]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "avg": lambda numbers: sum(numbers) / len(numbers),
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "round": _rounded,
    "sqrt": math.sqrt,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "exp": math.exp,
    "floor": math.floor,
    "ceil": math.ceil,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "degrees": math.degrees,
    "radians": math.radians,
}
_AS_PYTHON = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "\u00a0": " ", "\n": " "})


def evaluate(expression: str) -> Number:
    """Return the value of an arithmetic expression; decimals rounded to 15 significant digits, integers as integers.

    Raises `ComponentError` for anything that is not arithmetic, not defined, or too large.
    """
    if len(expression) > LONGEST:
        raise _wrong(f"the expression has {len(expression)} characters; the limit is {LONGEST}")
    try:
        tree = ast.parse(expression.translate(_AS_PYTHON).strip(), mode="eval")
        return _tidy(_value(tree.body, 0))
    except SyntaxError as error:
        raise _wrong(f"{clipped(expression, 60)!r} is not an arithmetic expression: {error.msg}") from error
    except ZeroDivisionError as error:
        raise _wrong(f"{clipped(expression, 60)!r} divides by zero") from error
    except OverflowError as error:
        raise _wrong(f"{clipped(expression, 60)!r} is too large a number") from error
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise _wrong(f"{clipped(expression, 60)!r} cannot be computed: {error}") from error


def _wrong(reason: str) -> ComponentError:
    names = ", ".join([*_FUNCTIONS, *_OF_LISTS, *_CONSTANTS])
    return ComponentError(
        f"Calculator: {reason}.", remedy=f"Use numbers, + - * / // % **, parentheses and {names}.", field="expression"
    )


def _value(node: ast.expr, depth: int) -> Number:
    if depth > _DEEPEST:
        raise _wrong(f"the expression is nested more than {_DEEPEST} levels deep; add many numbers with sum(...)")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.Name(id=name):
            return _constant(name)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_value(operand, depth + 1))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left, depth + 1), _value(right, depth + 1))
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _OPERATORS:
            return _bounded(_OPERATORS[type(kind)](_value(left, depth + 1), _value(right, depth + 1)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _bounded(_call(name, arguments, depth + 1))
        case ast.Tuple():
            raise _wrong("there is a comma outside a function; write 1234.5 without thousands separators")
    raise _wrong(f"{clipped(ast.unparse(node), 40)!r} is not an arithmetic expression")


def _constant(name: str) -> Number:
    if name not in _CONSTANTS:
        raise _wrong(f"'{name}' is not a number{did_you_mean(name, _CONSTANTS)}")
    return _CONSTANTS[name]


def _call(name: str, arguments: list[ast.expr], depth: int) -> Number:
    if name in _OF_LISTS:
        spread = arguments[0].elts if len(arguments) == 1 and isinstance(arguments[0], ast.List) else arguments
        numbers = [_value(argument, depth) for argument in spread]
        if not numbers:
            raise _wrong(f"{name}() needs numbers")
        return _OF_LISTS[name](numbers)
    if name not in _FUNCTIONS:
        raise _wrong(f"there is no function '{name}'{did_you_mean(name, [*_FUNCTIONS, *_OF_LISTS])}")
    return _FUNCTIONS[name](*(_value(argument, depth) for argument in arguments))


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0:
        if base.bit_length() * exponent > _MOST_BITS:
            raise _wrong(f"{base:.6g} ** {exponent:.6g} is too large a number")
        return int(base**exponent)
    result = base**exponent
    if isinstance(result, complex):
        raise _wrong(f"{base} ** {exponent} is not a real number")
    return _bounded(result)


def _bounded(number: Number) -> Number:
    if isinstance(number, int) and number.bit_length() > _MOST_BITS:
        raise _wrong(f"a whole number has more than {_MOST_BITS} bits")
    if isinstance(number, float) and not math.isfinite(number):
        raise _wrong("an intermediate result is not finite")
    return number


def _tidy(number: Number) -> Number:
    """Return 0.1 + 0.2 as 0.3: 15 digits are exact in a double, the 16th and 17th are noise."""
    if isinstance(number, int):
        return number
    rounded = float(f"{number:.15g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
