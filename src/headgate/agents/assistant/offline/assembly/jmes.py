"""JMESPath pieces from what was said; every name and value is quoted."""

import json

from headgate.agents.assistant.offline.grammar.condition import Condition

_NUMERIC = {"over": ">", "under": "<", "least": ">=", "most": "<="}


def literal(value: object) -> str:
    """A text as a raw string, anything else as a JSON literal."""
    if isinstance(value, str) and "\n" not in value and "\t" not in value:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "`" + json.dumps(value, ensure_ascii=False).replace("`", "\\`") + "`"


def member(name: str) -> str:
    """A field name as JMESPath reads it."""
    return name if name.isidentifier() and name.isascii() else json.dumps(name, ensure_ascii=False)


def path(expression: str) -> str:
    """A dotted path as people write it: `users[*].name`, `items[].price`."""
    return expression.strip().removeprefix("$.").removeprefix(".")


def items_filter(condition: Condition, *, keep: bool) -> str:
    """An expression that keeps the fitting items of a list of texts."""
    tests = [_item_test(each) for each in (condition, *condition.others)]
    joined = (" || " if condition.joined == "or" else " && ").join(tests)
    joined = f"({joined})" if len(tests) > 1 else joined
    return f"[?{joined if keep else f'!({joined})'}]"


def _item_test(condition: Condition) -> str:
    value = literal(str(condition.value)) if condition.value is not None else "''"
    tests = {
        "contains": _any_case(condition, "contains(@, {})"),
        "is": f"@ == {value}",
        "starts": f"starts_with(@, {value})",
        "ends": f"ends_with(@, {value})",
        "empty": "@ == ''",
    }
    test = tests.get(condition.operator) or _number_test(condition)
    return f"!({test})" if condition.negated else test


def _any_case(condition: Condition, test: str) -> str:
    """The test of a value in the cases it may be written in; JMESPath has no way to ignore case."""
    text = str(condition.value)
    forms = [text] if condition.exact else list(dict.fromkeys((text, text.upper(), text.capitalize())))
    tests = [test.format(literal(form)) for form in forms]
    return tests[0] if len(tests) == 1 else f"({' || '.join(tests)})"


def row_filter(condition: Condition, *, keep: bool) -> str:
    """An expression that keeps the rows in which any value fits, for tables whose columns are not known."""
    value = literal(str(condition.value)) if condition.value is not None else "''"
    test = (
        f"contains(values(@), {value})"
        if condition.operator == "is"
        else _any_case(condition, "contains(to_string(@), {})")
    )
    wanted = keep ^ condition.negated
    return f"[?{test}]" if wanted else f"[?!({test})]"


def _number_test(condition: Condition) -> str:
    measured = "length(@)" if condition.measure == "length" else "to_number(@)"
    return _compared(measured, condition)


def _compared(measured: str, condition: Condition) -> str:
    if condition.operator == "between":
        return f"{measured} >= `{condition.value}` && {measured} <= `{condition.upper}`"
    return f"{measured} {_NUMERIC.get(condition.operator, '==')} `{condition.value}`"


def record_test(condition: Condition, fields: tuple[str, ...]) -> str:
    """One boolean expression of several conditions on an object; `fields` are the fields they compare."""
    tests = [_field_test(each, name) for each, name in zip((condition, *condition.others), fields, strict=True)]
    return (" || " if condition.joined == "or" else " && ").join(f"({test})" for test in tests)


def _field_test(condition: Condition, name: str) -> str:
    field = member(name)
    value = literal(str(condition.value)) if condition.value is not None else "''"
    tests = {
        "contains": f"contains(to_string({field}), {value})",
        "is": f"{field} == {value if isinstance(condition.value, str) else f'`{condition.value}`'}",
        "starts": f"starts_with(to_string({field}), {value})",
        "ends": f"ends_with(to_string({field}), {value})",
        "empty": f"!{field}",
    }
    test = tests.get(condition.operator) or _compared(f"to_number({field})", condition)
    return f"!({test})" if condition.negated else test


def filled(template: str, names: dict[str, str]) -> str:
    """A text with placeholders as a JMESPath expression: `join('', ['Hello ', to_string(name)])`."""
    pieces: list[str] = []
    rest = template
    while rest:
        found = [(rest.find(mark), mark) for mark in names if mark in rest]
        if not found:
            break
        at, mark = min(found)
        pieces += [literal(rest[:at])] if at else []
        pieces.append(f"to_string({member(names[mark])})")
        rest = rest[at + len(mark) :]
    pieces += [literal(rest)] if rest else []
    return f"join('', [{', '.join(pieces)}])"
