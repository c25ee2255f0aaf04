"""What the words of a condition mean: which column, which comparison, which value; with the data at hand where there is some."""  # noqa: E501

import re
from collections.abc import Mapping
from typing import Any

from headgate.agents.assistant.offline.language.files import pairs
from headgate.agents.assistant.offline.reading.columns import Column
from headgate.agents.assistant.offline.reading.conditions import COMPARING, OPPOSITE, Condition, Test
from headgate.agents.assistant.offline.reading.patterns import can_match, compile_pattern
from headgate.agents.assistant.offline.reading.slots import READERS, Context, bound, is_reserved, read_column


def read_condition(context: Context, words: str) -> Condition | None:
    """A condition: one comparison, or several joined by `and`, or by `or`. A mixture is refused."""
    neither = re.match(r"(?:(?:are|is|är) )?(?:neither|varken) (?P<rest>.+)", words)
    if neither is not None:
        return _neither(context, neither["rest"])
    words = re.sub(r"^(?:(?:are|is|är) )?(?:both|either|både|antingen) ", "", words)
    single: Test | None = context.read("test", words)
    if single is not None:
        return Condition((single,))
    for glue, joined in ((" and ", "and"), (" och ", "and"), (" or ", "or"), (" eller ", "or"), (" , ", "and")):
        parts = words.split(glue)
        if len(parts) > 1:
            parts = [re.sub(r"^(?:where|whose|that|som|där|vars) ", "", part.strip()) for part in parts]
            tests = _tests(context, parts)
            if tests:
                return _joined(tests, joined)
    return None


def _tests(context: Context, parts: list[str]) -> tuple[Test, ...]:
    """The comparison of each part; what leads to the value may be said once: `from Denmark and Norway`."""
    tests: list[Test] = []
    leading = "är" if context.language == "sv" else "is"
    for part in parts:
        test: Test | None = context.read("test", part) or context.read("test", f"{leading} {part}")
        if test is None:
            return ()
        tests.append(test)
        leading = part.rpartition(" ")[0] or leading
    return tuple(tests)


def _neither(context: Context, words: str) -> Condition | None:
    """`neither open nor from Denmark`: the opposite of each."""
    tests = _tests(context, [part.strip() for part in re.split(r" (?:nor|eller) ", words)])
    condition = Condition(tests, "or")
    return condition.negated if len(tests) > 1 and all(test.operator in OPPOSITE for test in tests) else None


def _joined(tests: tuple[Test, ...], joined: str) -> Condition:
    """Several comparisons. `from Denmark and from Norway` is a choice: no row has both values in one column."""
    one_column = len({test.column for test in tests}) == 1
    if one_column and joined == "and" and {test.operator for test in tests} == {"eq"}:
        return Condition(tests, "or")
    return Condition(tests, "and" if one_column and {test.operator for test in tests} == {"ne"} else joined)


def _comparison(context: Context, words: str) -> Condition | None:
    """A comparison that names its column: `price at most 95`."""
    test: Test | None = context.read("test", words)
    if test is None or test.operator not in COMPARING or not test.column or test.column.startswith("?"):
        return None
    columns = [read_column(context, part) for word in words.split() for part in (word, f"column {word}")]
    named = any(column is not None and column.name == test.column for column in columns)
    return Condition((test,)) if named else None


def _test(context: Context, words: str) -> Test | None:
    missing: Test | None = None
    line = f"{words} "
    for operator, form in pairs(context.language, "conditions"):
        if not can_match(form, context.language, line):
            continue
        pattern = compile_pattern(form, context.language)
        match = pattern.expression.fullmatch(line)
        slots = bound(context, pattern, match) if match is not None else None
        test = _made(context, operator, slots) if slots is not None else None
        if test is not None and match is not None and not _is_there(context, test, match):
            continue
        if test is not None and not test.column.startswith("?"):
            return test
        missing = missing or test
    return missing


def _is_there(context: Context, test: Test, match: re.Match[str]) -> bool:
    """Whether a comparison is about what the data holds: words that are no value of the column were not understood."""
    sample = context.sample
    if test.operator in COMPARING and context.read("rows", (match.groupdict().get("column") or "").strip()) is not None:
        return False  # `more than one order`: the rows are meant, though a column has the same name
    if test.operator not in {"contains", "lacks", "ne"} or sample is None or not sample.rows:
        return True
    if "‹" in match["value"] or test.column not in (sample.columns or ()):
        return True
    cells = " ".join(str(cell) for cell in sample.values(test.column)).lower()
    return all(str(value).lower() in cells for value in (test.value, *test.also))


def _made(context: Context, operator: str, slots: Mapping[str, Any]) -> Test | None:
    value = slots.get("value", "")
    values = value if isinstance(value, tuple) else (value,)
    column = slots.get("column") or slots.get("late")
    if operator.endswith("_any"):
        return _by_value(context, operator[:-4], *values)
    if operator.endswith("ticked"):
        return _ticked(context, column, yes=operator == "ticked")
    if operator == "eq_value":
        if column is None or context.sample is None or column.name not in context.sample.holders(str(values[0])):
            return None
        return Test(column.name, "eq", values[0])
    if column is None and operator in {"gt", "lt", "ge", "le", "between"}:
        column = _only_column(context, values[0])
    if operator == "between" and column is None:
        return None
    name = "" if column is None else ("?" if column.missing else "") + column.name
    return Test(name, operator, values[0], slots.get("upper", ""), also=tuple(values[1:]))


def _only_column(context: Context, value: str | float) -> Column | None:
    """The column that is compared where none is named: the only one of the data with numbers, or with dates."""
    sample = context.sample
    if sample is None or sample.columns is None:
        return None
    fits = sample.is_date if isinstance(value, str) else sample.is_numeric
    names = [name for name in sample.columns if fits(name)]
    return Column(names[0]) if len(names) == 1 else None


_AGES = ("age", "ålder")


def _by_value(context: Context, operator: str, value: str | float, *also: str | float) -> Test | None:
    """A comparison whose column only the data shows: the one that holds this value, or the age of people."""
    if context.sample is None or context.sample.columns is None:
        return None
    if isinstance(value, int | float):
        column = next((name for name in map(context.sample.column, _AGES) if name), None)
        return Test(column, operator, value) if column else None
    known = context.sample
    holders = [name for name in known.holders(value) if all(name in known.holders(str(more)) for more in also)]
    return Test(holders[0], operator, value, also=tuple(map(str, also))) if len(holders) == 1 else None


_TICKS = ({"yes", "true", "ja", "1"}, {"no", "false", "nej", "0"})


def _ticked(context: Context, column: Column | None, *, yes: bool) -> Test | None:
    """`paid`, `not paid`: a column of the data that holds only yes and no."""
    if column is None or column.missing or context.sample is None or context.sample.columns is None:
        return None
    values = {str(cell).lower(): cell for cell in context.sample.values(column.name)}
    cells = [cell for lower, cell in values.items() if lower in _TICKS[0 if yes else 1]]
    return Test(column.name, "eq", str(cells[0])) if cells and set(values) <= _TICKS[0] | _TICKS[1] else None


def _trait(context: Context, words: str) -> Condition | None:
    """`open`, in `the open orders`: the one column that holds this value says what is meant."""
    if is_reserved(words):
        return None
    test = _by_value(context, "eq", context.plain(words))
    return Condition((test,)) if test is not None else None


READERS |= {"condition": read_condition, "comparison": _comparison, "test": _test, "trait": _trait}
