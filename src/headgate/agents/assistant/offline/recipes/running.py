"""Steps that run flows, repeat them, wait for events and send them; policies of steps, and limits of the flow."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from headgate.agents.assistant.offline.build.work import Impossible, Work, member
from headgate.agents.assistant.offline.reading.conditions import Condition, Test
from headgate.agents.assistant.offline.reading.slots import node_named
from headgate.agents.assistant.offline.reading.sources import Source
from headgate.agents.assistant.offline.reading.units import LINE
from headgate.agents.assistant.offline.recipe import Slots, Step
from headgate.graph.names import listed
from headgate.graph.template import ERROR_OUTPUT

Members = Mapping[str, JsonValue]
_ROUNDS = 10
"""Rounds of a loop where none are said: every loop has a limit."""
_RETRIES = 3
"""New attempts where no number is said."""
_SIGNS = {"eq": "==", "ne": "!=", "gt": ">", "lt": "<", "ge": ">=", "le": "<="}
_FUNCTIONS = {"contains": "contains", "starts": "starts_with", "ends": "ends_with"}


def _flow(work: Work, slots: Slots) -> str:
    """The name of the published flow that is meant. Raises `CannotBuild` for one that there is not."""
    flow = slots["flow"]
    if not flow.known:
        names = listed([f"'{name}'" for name in work.context.flows or ()], most=20)
        raise Impossible(
            work.text_of("no_such_flow" if work.context.flows else "no_flows", name=flow.text, names=names)
        )
    return str(flow.text)


def _input(work: Work, slots: Slots) -> tuple[str, str] | None:
    """The value that a step gets: the one at hand, the named source, or the form that its correlation asks for."""
    if work.cursor is None and not work.source.words:
        if not slots.get("given") or slots["given"].known:
            return None
        work.source = Source("form", "form")
    return work.begin().node, work.begin().port


def _correlation(work: Work, slots: Slots) -> dict[str, JsonValue]:
    given = slots.get("given")
    if given is None:
        return {}
    field = "" if given.known else work.draft.ask_for(given.text)
    return {"correlation": given.text if given.known else f"{{{{flow_input.{field}}}}}"}


def _run_flow(work: Work, slots: Slots) -> None:
    name = _flow(work, slots)
    given = work.text() if _input(work, slots) is not None else None
    node = work.draft.add("RunFlow", name, {"flow": name})
    if given is not None:
        work.draft.connect(*given, node, "text")
    work.set("text", node, "text")


def _for_each(work: Work, slots: Slots) -> None:
    name, unit, cursor = _flow(work, slots), slots.get("unit"), work.begin()
    source = (cursor.node, cursor.port)
    if unit is not None and unit is not LINE:
        if not unit.split:
            raise work.cannot("which_items")
        split = work.draft.add("SplitText", unit.name("en"), {"by": unit.split})
        work.draft.connect(*work.text(), split, "text")
        source = (split, "chunks")
    node = work.draft.add_after(source, "ForEach", name, {"flow": name}, "items")
    work.set("table", node, "table")


def _repeat(work: Work, slots: Slots) -> dict[str, JsonValue]:
    name, condition = _flow(work, slots), slots["until"]
    until, most = _until(work, condition), int(slots.get("number", _ROUNDS))
    source = (work.begin().node, work.begin().port)
    node = work.draft.add("Loop", name, {"flow": name, "until": until})
    work.configure(node, most=most)
    work.draft.connect(*source, node, "value")
    work.set("data", node, "result")
    return {} if "rounds" in work.keys else {"number": most}


def _until(work: Work, condition: Condition) -> str:
    glue = " && " if condition.joined == "and" else " || "
    return glue.join(_compared(work, test) for test in condition.tests)


def _compared(work: Work, test: Test) -> str:
    """A comparison as JMESPath on the result of a round."""
    number = isinstance(test.value, int | float)
    value = f"`{test.value:g}`" if number else "'" + str(test.value).replace("\\", "\\\\").replace("'", "\\'") + "'"
    path = member(test.column) if test.column else "to_number(text)" if number else "text"
    if test.operator in _SIGNS and not test.also:
        return f"{path} {_SIGNS[test.operator]} {value}"
    if test.operator in _FUNCTIONS and not test.also:
        return f"{_FUNCTIONS[test.operator]}({path}, {value})"
    raise work.cannot("which_condition")


def _wait_event(work: Work, slots: Slots) -> None:
    params: dict[str, JsonValue] = {"event": slots["event"], **_correlation(work, slots)}
    source = _input(work, slots)
    node = work.draft.add("WaitForEvent", f"wait {slots['event']}", params)
    if source is not None:
        work.draft.connect(*source, node, "value")
    work.set("data", node, "data")


def _send_event(work: Work, slots: Slots) -> None:
    params: dict[str, JsonValue] = {"event": slots["event"], **_correlation(work, slots)}
    source = _input(work, slots) or work.text()
    node = work.draft.add_after(source, "SendEvent", f"send {slots['event']}", params, "data")
    work.set("data", node, "value")


def _last(work: Work, slots: Slots, fits: Callable[[str], bool], what: str) -> str:
    """The step that is meant: the named one, the last that was added, or the only one of the flow that fits.

    Raises `CannotBuild` where it is not clear.
    """
    draft = work.draft
    named = slots.get("step")
    if named:
        node_id = node_named(tuple(draft.nodes.values()), draft.catalog, named)
        if node_id is None:
            raise work.cannot("no_such_step", name=named, steps=listed([*draft.nodes]))
        return node_id
    base = {node.id for node in draft.base.nodes}
    fitting = [node_id for node_id in draft.nodes if fits(node_id)]
    added = [node_id for node_id in fitting if node_id not in base]
    if added:
        return added[-1]
    if len(fitting) != 1:
        raise work.cannot("which_of_steps", what=what, steps=listed([*draft.nodes]))
    return fitting[0]


def _failing(work: Work, slots: Slots) -> str:
    """The step that a policy is about: one that can fail for reasons outside of the flow, where none is named."""

    def fits(node_id: str) -> bool:
        template = work.draft.template(node_id)
        return template is not None and bool(
            template.model_using or template.outside or (template.effect and template.type != "SaveFile")
        )

    return _last(work, slots, fits, work.text_of("failing"))


def _policy(members: Callable[[Slots], Members]) -> Step:
    def build(work: Work, slots: Slots) -> dict[str, str]:
        node_id = _failing(work, slots)
        work.govern(node_id, members(slots))
        return {"number": _RETRIES, "quoted": "", **slots, "step": node_id}

    return Step("around", "none", build)


def _setting(members: Callable[[Slots], Members]) -> Step:
    return Step("around", "none", lambda work, slots: work.govern("", members(slots)))


def field_step(types: Sequence[str], members: Callable[[Slots], Members]) -> Step:
    """Sets fields of the one step of some types."""

    def build(work: Work, slots: Slots) -> None:
        node_id = _last(work, slots, lambda node_id: work.draft.nodes[node_id].type in types, types[0])
        work.configure(node_id, **members(slots))

    return Step("around", "none", build)


def _retries(slots: Slots) -> Members:
    """Attempts include the first one; a stated delay is fixed unless a back-off is asked for."""
    retry: dict[str, JsonValue] = {"max_attempts": int(slots.get("number", _RETRIES)) + 1}
    if "duration" in slots:
        delay = slots["duration"].seconds
        retry |= {"delay_seconds": delay, "max_delay_seconds": max(300, delay)}
        retry["backoff"] = "exponential" if "backoff" in slots else "fixed"
    return {"retry": retry}


def _fallback(work: Work, slots: Slots) -> dict[str, str]:
    node_id = _failing(work, slots)
    model = work.draft.nodes[node_id].params.get("model")
    if isinstance(model, str) and "/" in model:
        provider, _, name = model.partition("/")
        model = {"provider": provider, "name": name, "params": {}}
    if not isinstance(model, dict):
        raise work.cannot("no_model_to_replace", step=node_id)
    work.draft.configure(node_id, model={**model, "fallback": [slots["model"]]})
    return {"step": node_id}


def _limit_costs(work: Work, slots: Slots) -> dict[str, JsonValue]:
    cost, names = slots.get("cost", "usd"), {"run_budget": "number", "daily_budget": "day"}
    work.govern("", {name: {cost: slots[slot]} for name, slot in names.items() if slot in slots})
    return {"cost": cost}


def _otherwise(work: Work, slots: Slots) -> dict[str, str]:
    """What follows when a wait, an approval or a loop reaches its limit."""

    def fits(node_id: str) -> bool:
        template = work.draft.template(node_id)
        return template is not None and template.output("timeout") is not None

    node_id = _last(work, slots, fits, work.text_of("waiting"))
    node = work.draft.nodes[node_id]
    if node.type != "Loop" and not node.params.get("timeout_hours"):
        raise work.cannot("no_timeout")
    text = work.text_of("reminder", name=node.params.get("event", node_id))
    return _branch(work, slots, node_id, "timeout", text)


def _on_failure(work: Work, slots: Slots) -> dict[str, str]:
    node_id = _failing(work, slots)
    work.govern(node_id, {"on_error": "error_edge"})
    return {"step": node_id, **_branch(work, slots, node_id, ERROR_OUTPUT, "")}


def _branch(work: Work, slots: Slots, node_id: str, port: str, text: str) -> dict[str, str]:
    """The steps of a branch; the value at hand stays. Without a text the message of an error is shown."""
    cursor, ended = work.cursor, work.ended
    work.set("data", node_id, port)
    shown_text: str = slots.get("quoted") or text
    if "flow" in slots:
        _run_flow(work, slots)
    else:
        node = (
            work.constant_text(shown_text, node_id, port)
            if shown_text
            else work.select(work.begin(), "message", "error")
        )
        shown = work.draft.add("ChatOutput", "show_error" if port == ERROR_OUTPUT else "show_late", {}, shown_text)
        work.draft.connect(node, "text", shown, "input")
    work.cursor, work.ended = cursor, ended
    if "flow" in slots:
        return {}
    return {"quoted": shown_text} if shown_text else {"shown": work.text_of("its_error")}


STEPS: dict[str, Step] = {
    "for_each_row": Step("text", "table", _for_each),
    "for_each_part": Step("text", "text", _for_each),
    "run_flow": Step("text", "any", _run_flow),
    "repeat_flow": Step("text", "text", _repeat),
    "wait_event": Step("text", "none", _wait_event),
    "send_event": Step("text", "none", _send_event),
}
"""Steps that are built in a new flow, or put in front of the result of the flow at hand."""
AROUND: dict[str, Step] = {
    "collect": field_step(("ForEach",), lambda _: {}),
    "parallel": field_step(("ForEach", "ForEachPage"), lambda slots: {"parallel": int(slots["number"])}),
    "each_continue": field_step(("ForEach", "ForEachPage"), lambda _: {"on_error": "continue"}),
    "each_stop": field_step(("ForEach", "ForEachPage"), lambda _: {"on_error": "stop"}),
    "rounds": field_step(("Loop",), lambda slots: {"most": int(slots["number"])}),
    "pause": field_step(("Loop",), lambda slots: {"pause_seconds": slots["duration"].seconds}),
    "limit_wait": field_step(
        ("WaitForEvent", "Approval", "WaitForState"),
        lambda slots: {"timeout_hours": slots["duration"].seconds / 3600},
    ),
    "to_all": field_step(("SendEvent",), lambda _: {"deliver": "all"}),
    "keep_event": field_step(("SendEvent",), lambda slots: {"keep_hours": slots["duration"].seconds / 3600}),
    "otherwise": Step("around", "none", _otherwise),
    "on_failure": Step("around", "none", _on_failure),
    "retry": _policy(_retries),
    "no_retry": _policy(lambda _: {"retry": {"max_attempts": 1}}),
    "timeout": _policy(lambda slots: {"timeout_seconds": slots["duration"].seconds}),
    "total_timeout": _policy(lambda slots: {"total_timeout_seconds": slots["duration"].seconds}),
    "default": _policy(lambda slots: {"on_error": "default_value", "default_value": slots.get("quoted", "")}),
    "error_data": _policy(lambda _: {"on_error": "error_data"}),
    "fail": _policy(lambda _: {"on_error": "fail"}),
    "model_fallback": Step("around", "none", _fallback),
    "budget": Step("around", "none", _limit_costs),
    "max_runs": _setting(lambda slots: {"max_concurrent_runs": int(slots["number"])}),
    "deadline": _setting(lambda slots: {"run_deadline_seconds": slots["duration"].seconds}),
    "error_flow": Step("around", "none", lambda work, slots: work.govern("", {"error_flow": _flow(work, slots)})),
}
"""What is said about steps and the flow; in a new flow and in the one at hand."""
