"""Choices: If and Switch, their branches, and how they join again."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from headgate.agents.assistant.offline.assembly import jmes, text_steps
from headgate.agents.assistant.offline.assembly.draft import slug
from headgate.agents.assistant.offline.assembly.shapes import as_text, derive, realise
from headgate.agents.assistant.offline.assembly.table_steps import filter_rows
from headgate.agents.assistant.offline.assembly.targets import names_of
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.condition import Condition
from headgate.agents.assistant.offline.grammar.operations import Case, Choice, Part
from headgate.features.catalog.words import word_set

Body = Callable[[Sequence[Part], Value], list[Value]]
"""Assembles the statements of a branch on a value; the results it leaves."""

_OPERATORS = {
    "contains": ("contains", "does not contain"),
    "is": ("equals", "does not equal"),
    "empty": ("is empty", "is not empty"),
}
_TAGS = word_set("finding decision result outcome verdict answer reply conclusion findings message text warning")


def choose(shop: Workshop, choice: Choice, value: Value, body: Body) -> list[Value]:
    """Assemble a choice on a value: gives the joined result, or the value when every branch ends in an output."""
    if choice.subject and len(choice.cases) > 1 and value.kind in {"record", "text", "data"}:
        return _switch(shop, choice, value, body)
    return _ifs(shop, choice.cases, choice.otherwise, value, body)


def _switch(shop: Workshop, choice: Choice, value: Value, body: Body) -> list[Value]:
    cases = [str(case.condition.value) for case in choice.cases]
    params: dict[str, object] = {"cases": cases}
    if value.kind != "text":
        params["field"] = jmes.member(shop.draft.ask_for(choice.subject) if value.kind == "record" else choice.subject)
    node = shop.draft.add("Switch", f"which {choice.subject}", params, f"Which {choice.subject}")  # type: ignore[arg-type]
    shop.draft.connect(value.node, value.port, node, "value")
    shop.use(value)
    template = shop.draft.catalog.template("Switch", shop.draft.nodes[node].params)
    names = [output.name for output in template.outputs] if template is not None else []
    results: list[Value] = []
    for case, port in zip(choice.cases, names, strict=False):
        results += body(case.body, value.like(node=node, port=port, of_branch=True, source="", result=False))
    if choice.otherwise:
        results += body(
            choice.otherwise, value.like(node=node, port=names[-1], of_branch=True, source="", result=False)
        )
    return _joined(shop, results, value)


def _ifs(shop: Workshop, cases: Sequence[Case], otherwise: Sequence[Part], value: Value, body: Body) -> list[Value]:
    tested = _test(shop, cases[0].condition, value)
    node, yes, no = tested.node, *tested.ports
    passed = tested.value.like(
        node=node, of_branch=True, source="", result=False, text_port="", query=None, consumed=False
    )
    original = value.like(consumed=False)
    results = body(cases[0].body, passed.like(port=yes, tags=passed.tags | {"matches"}, other=(node, no)))
    if len(cases) > 1:
        results += _ifs(shop, cases[1:], otherwise, passed.like(port=no), body)
    elif otherwise:
        results += body(otherwise, passed.like(port=no))
    elif results and tested.value is value and results[0].kind == value.kind:
        results.append(passed.like(port=no))
    return _joined(shop, results, original)


def _joined(shop: Workshop, results: list[Value], value: Value) -> list[Value]:
    """The results of the branches as one; the value before the choice when the branches left none."""
    results = [result for result in results if result is not value]
    if not results:
        return [value]
    if len(results) == 1:
        results[0].tags |= _TAGS
        return results
    node = shop.draft.add("Merge", "finding", {"mode": "first"}, "Whichever came")
    same = {result.kind for result in results}
    kind = same.pop() if len(same) == 1 else "text"
    for result in results:
        source = realise(shop, result)
        plain = (source.node, source.text_port or source.port)
        shop.draft.connect(*(plain if kind == result.kind else as_text(shop, result)), node, "values")
        shop.use(result)
    tags = _TAGS | frozenset(tag for result in results for tag in result.tags)
    merged = Value(
        "text" if kind in {"text", "number"} else kind,
        node,
        "text" if kind in {"text", "number"} else "value",
        tags,
        "finding",
    )
    merged.text_port = "text"
    return [shop.keep(merged)]


class _Tested:
    """An If step: the value it passes on and the outputs for yes and no."""

    def __init__(self, node: str, value: Value, ports: tuple[str, str]) -> None:
        self.node = node
        self.value = value
        self.ports = ports


def _test(shop: Workshop, condition: Condition, value: Value) -> _Tested:
    """The If step of a condition on a value."""
    if condition.measure == "count":
        return _counted(shop, condition, value)
    if value.kind == "file":
        node, port = as_text(shop, value)
        value = Value("text", node, port, value.tags | {"text"}, "text", result=False)
    if value.kind in {"table", "items"} and not (condition.operator == "empty" and not condition.column):
        return _among(shop, condition, value)
    if value.kind in {"record", "data"}:
        return _fields(shop, condition, value)
    return _whole(shop, condition, value)


def _counted(shop: Workshop, condition: Condition, value: Value) -> _Tested:
    """`more than 5 lines`: compare how many there are."""
    if value.kind == "number":
        return _whole(shop, replace(condition, measure=""), value)
    items = value
    if condition.unit.startswith(("u.", "t.")) and value.kind != "table":
        items = derive(shop, value, condition.unit)
    source = realise(shop, items)
    return _if(
        shop, condition, source, "length(@)", f"How many {names_of(items.unit)[1] if items.unit else 'are there'}"
    )


def _among(shop: Workshop, condition: Condition, value: Value) -> _Tested:
    """`any of them is GPL`: choose the fitting ones and look whether there are any."""
    positive = replace(condition, quantifier="", negated=condition.negated ^ (condition.quantifier == "all"))
    found: Value | None
    if value.kind == "table":
        found = filter_rows(shop, value, positive, keep=True)
    else:
        found = text_steps.filter_items(shop, value, positive, keep=True)
    found = found or value
    source = realise(shop, found)
    shop.use(found)
    none_wanted = condition.quantifier in {"all", "none"}
    check = Condition("empty", negated=not none_wanted)
    tested = _if(shop, check, source, "", "Any of them?")
    tested.value.label = found.label
    return tested


def _fields(shop: Workshop, condition: Condition, value: Value) -> _Tested:
    """A condition on a field of an object, or several on several."""
    every = (condition, *condition.others)
    names = [each.column or value.last_column for each in every]
    if value.source == "s.form" or "form" in value.tags:
        number = {"over", "under", "least", "most", "between"}
        names = [
            shop.draft.ask_for(name or "value", number=each.operator in number)
            for name, each in zip(names, every, strict=True)
        ]
    value.last_column = names[0]
    if len(every) > 1 or condition.operator in {"between", "starts", "ends"}:
        expression = jmes.record_test(condition, tuple(names))
        return _if(shop, Condition("is", "true"), value, expression, f"{names[0]}?")
    return _if(shop, condition, value, jmes.member(names[0]), _question(condition, names[0]))


def _question(condition: Condition, name: str) -> str:
    words = {
        "over": "over",
        "under": "under",
        "least": "at least",
        "most": "at most",
        "is": "is",
        "contains": "contains",
        "empty": "empty",
    }
    return f"{name} {words.get(condition.operator, '')} {'' if condition.value is None else condition.value}?".replace(
        "  ", " "
    )


def _whole(shop: Workshop, condition: Condition, value: Value) -> _Tested:
    """A condition on the value itself."""
    every = (condition, *condition.others)
    operator = condition.operator
    if len(every) > 1 and condition.joined == "or" and all(each.operator in {"contains", "is"} for each in every):
        pattern = "|".join(text_steps.escaped(str(each.value)) for each in every)
        return _if(
            shop,
            replace(condition, operator="matches", value=pattern, others=()),
            value,
            "",
            f"Contains {condition.value}?",
        )
    for other in condition.others:
        shop.lacking.append(
            f"'and {other.operator} {other.value}': only one condition on a text can be checked at a time"
        )
    if operator == "contains" and condition.unit.startswith("t."):
        operator = "matches"
    measured = "length(@)" if condition.measure == "length" else ""
    if operator == "starts":
        condition = replace(condition, operator="matches", value=f"^\\s*{text_steps.escaped(str(condition.value))}")
    elif operator == "ends":
        condition = replace(condition, operator="matches", value=f"{text_steps.escaped(str(condition.value))}\\s*$")
    return _if(shop, condition, value, measured, _question(condition, value.label or "value"))


def _if(shop: Workshop, condition: Condition, value: Value, field: str, label: str) -> _Tested:
    """The step itself. `at least` is `not less than`: the outputs change places."""
    swapped = condition.operator in {"least", "most"}
    negated = condition.negated ^ swapped
    if condition.operator in _OPERATORS:
        operator, negated = _OPERATORS[condition.operator][int(negated)], False
    elif condition.operator == "matches":
        operator = "matches"
    else:
        operator = "is less than" if condition.operator in {"under", "least"} else "is greater than"
    params: dict[str, object] = {"operator": operator}
    if field:
        params["field"] = field
    if condition.value is not None and condition.operator != "empty":
        params["compare"] = _shown(condition.value)
    node = shop.draft.add("If", slug(label)[:24] or "check", params, label)  # type: ignore[arg-type]
    source = realise(shop, value)
    shop.draft.connect(source.node, source.port, node, "value")
    shop.use(value)
    return _Tested(node, value, ("false", "true") if negated else ("true", "false"))


def _shown(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
