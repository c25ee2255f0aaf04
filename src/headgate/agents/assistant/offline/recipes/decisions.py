"""Decisions, forms, calculations and fixed texts."""

import re

from headgate.agents.assistant.offline.build.work import Cursor, Work, member
from headgate.agents.assistant.offline.reading.branches import Case, Choices
from headgate.agents.assistant.offline.reading.columns import Column, Formula
from headgate.agents.assistant.offline.reading.conditions import Test
from headgate.agents.assistant.offline.reading.sources import Source
from headgate.agents.assistant.offline.recipe import Slots, Step
from headgate.agents.assistant.offline.recipes.texts import escaped

_OPERATORS = {
    "eq": ("equals", False), "ne": ("does not equal", False), "gt": ("is greater than", False), "lt": ("is less than", False),  # noqa: E501
    "ge": ("is less than", True), "le": ("is greater than", True), "contains": ("contains", False),
    "lacks": ("does not contain", False), "empty": ("is empty", False), "filled": ("is not empty", False),
    "longer": ("is greater than", False), "shorter": ("is less than", False), "starts": ("matches", False), "ends": ("matches", False),  # noqa: E501
}  # fmt: skip
"""Comparison to the operator of an If, and whether its two ways are exchanged."""
_PLACEHOLDER = re.compile(r"\{([^\W\d][\w ]{0,40})\}")


def _decide(work: Work, slots: Slots) -> None:
    choices: Choices = slots["choices"]
    fields = choices.fields
    if fields and len(fields) < len({case.test.column for case in choices.cases}):
        raise work.cannot("text_and_form")
    if fields and not re.search(r"\bform", work.context.tokens.line) and not slots.get("asked"):
        raise work.cannot("field_from_where", fields=fields[0])
    if fields:
        for case in choices.cases:
            work.draft.ask_for(case.test.column, number=isinstance(case.test.value, int | float))
        work.cursor = work.started = work.cursor or _form(work)
        source, port = work.cursor.node, "data"
    else:
        source, port = work.text()
    merge = work.draft.add("Merge", "answer", {"mode": "first"}, work.text_of("answer"))
    for case in choices.cases:
        source, port = _branch(work, case, source, port, merge)
    if choices.otherwise:
        _send_text(work, choices.otherwise, source, port, merge)
    work.set("text", merge, "text")
    work.hints.answers = True


def _form(work: Work) -> Cursor:
    work.source = Source("form", "form")
    return work.begin()


def _branch(work: Work, case: Case, source: str, port: str, merge: str) -> tuple[str, str]:
    """One If; returns where its other branch continues."""
    test = case.test
    if test.also or test.operator not in _OPERATORS:
        raise work.cannot("one_condition_per_answer")
    operator, exchanged = _OPERATORS[test.operator]
    field = (
        member(work.draft.ask_for(test.column))
        if test.column
        else "length(@)"
        if test.operator in {"longer", "shorter"}
        else ""
    )
    params = {"field": field, "operator": operator, "compare": _compare(test)}
    label = test.describe(work.context.language)
    node = work.draft.add_after((source, port), "If", "check", params, "value", label=label)
    work.hints.texts.append(str(test.value))
    _send_text(work, case.answer, node, "false" if exchanged else "true", merge)
    return node, "true" if exchanged else "false"


def _compare(test: Test) -> str:
    value = f"{test.value:g}" if isinstance(test.value, float) else str(test.value)
    if test.operator == "starts":
        return f"^{escaped(value)}"
    return f"{escaped(value)}$" if test.operator == "ends" else value


def _send_text(work: Work, text: str, source: str, port: str, merge: str) -> None:
    work.draft.connect(work.constant_text(text, source, port), "text", merge, "values")


def _ask_and_decide(work: Work, slots: Slots) -> None:
    choices: Choices = slots["choices"]
    name = slots["field"].name
    cases = tuple(
        Case(Test(case.test.column or name, case.test.operator, case.test.value), case.answer) for case in choices.cases
    )
    _decide(work, {"choices": Choices(cases, choices.otherwise), "asked": True})


def _letter(work: Work, slots: Slots) -> None:
    text = slots["text"]
    names = _PLACEHOLDER.findall(text)
    if not names:
        if work.cursor is not None or slots.get("form"):
            raise work.cannot("no_placeholders")
        node = work.draft.add("TextInput", "text", {"text": text})
        work.set("text", node, "text")
        return
    for name in names:
        text = text.replace(f"{{{name}}}", f"{{{{flow_input.{work.draft.ask_for(name)}}}}}")
    work.uses_form = True
    node = work.draft.add("PromptTemplate", "letter", {"template": text})
    work.set("text", node, "text")


def _calculate(work: Work, slots: Slots) -> None:
    expression = slots["math"]
    for sign, meant in (("×", "*"), ("÷", "/"), ("^", "**"), (",", ".")):
        expression = expression.replace(sign, meant)
    _calculated(work, expression)


def _calculated(work: Work, expression: str) -> None:
    node = work.draft.add("Calculator", "calculate", {"expression": expression})
    work.set("number", node, "result")


def _in_words(work: Work, slots: Slots) -> None:
    formula: Formula = slots["formula"]
    if formula.columns or formula.percent:
        raise work.cannot("not_a_calculation")
    _calculated(work, formula.describe("en"))


def _percent(work: Work, slots: Slots) -> None:
    _calculated(work, f"{slots['of']:g} * {slots['number']:g} / 100")


def _form_formula(work: Work, slots: Slots) -> None:
    formula: Formula = slots["formula"]
    work.uses_form = True
    parts = []
    for part in (formula.left, formula.right):
        parts.append(  # noqa: PERF401
            f"{{{{flow_input.{work.draft.ask_for(part.name, number=True)}}}}}"
            if isinstance(part, Column)
            else f"{part:g}"
        )
    expression = (
        f"{parts[0]} * (1 {formula.sign} {parts[1]} / 100)"
        if formula.percent
        else f"{parts[0]} {formula.sign} {parts[1]}"
    )
    _calculated(work, expression)


def _form_product(work: Work, slots: Slots) -> None:
    sign = slots["sign"]
    _form_formula(work, {"formula": Formula(slots["left"], sign, slots["right"])})


def _wait(work: Work, slots: Slots) -> None:
    node = work.draft.add("Wait", "wait", {"seconds": slots["duration"].seconds})
    work.draft.connect(*work.passed(), node, "value")
    work.set("text", node, "value")


def _approval(work: Work, _slots: Slots) -> None:
    node = work.draft.add("Approval", "approval", {})
    work.draft.connect(*work.passed(), node, "value")
    work.set("text", node, "approve")


_CITIES = {
    "stockholm": "Europe/Stockholm", "oslo": "Europe/Oslo", "copenhagen": "Europe/Copenhagen", "helsinki": "Europe/Helsinki",  # noqa: E501
    "london": "Europe/London", "paris": "Europe/Paris", "berlin": "Europe/Berlin", "new york": "America/New_York",
    "tokyo": "Asia/Tokyo", "madrid": "Europe/Madrid", "rome": "Europe/Rome", "köpenhamn": "Europe/Copenhagen",
}  # fmt: skip


def _today(work: Work, slots: Slots) -> None:
    params = {"format": "%Y-%m-%d %H:%M" if slots.get("time") else "%Y-%m-%d"}
    if "place" in slots:
        zone = _CITIES.get(slots["place"].lower()) or (slots["place"] if "/" in slots["place"] else "")
        if not zone:
            raise work.cannot("unknown_time_zone", place=slots["place"])
        params["timezone"] = zone
    work.set("text", work.draft.add("CurrentDate", "today", params), "text")


DECISIONS: dict[str, Step] = {
    "decide": Step("combine", "text", _decide),
    "ask_and_decide": Step("combine", "form", _ask_and_decide),
    "letter": Step("source", "none", _letter),
    "calculate": Step("source", "none", _calculate),
    "calculate_words": Step("source", "none", _in_words),
    "percent": Step("source", "none", _percent),
    "form_product": Step("source", "form", lambda work, slots: _form_product(work, {"sign": "*", **slots})),
    "form_difference": Step("source", "form", lambda work, slots: _form_product(work, {"sign": "-", **slots})),
    "form_formula": Step("source", "form", _form_formula),
    "wait": Step("text", "any", _wait),
    "approval": Step("text", "any", _approval),
    "today": Step("source", "none", _today),
    "now": Step("source", "none", lambda work, slots: _today(work, {**slots, "time": True})),
}  # fmt: skip
