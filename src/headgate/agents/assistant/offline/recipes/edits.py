"""Changes of the flow at hand, and running it."""

import re
from typing import Any

from pydantic import JsonValue

from headgate.agents.assistant.offline.build.draft import slug
from headgate.agents.assistant.offline.build.work import CannotBuild, Work
from headgate.agents.assistant.offline.recipe import Build, Slots, Step
from headgate.agents.assistant.offline.recipes.decisions import DECISIONS
from headgate.agents.assistant.offline.recipes.outside import KINDS, OUTSIDE
from headgate.agents.assistant.offline.recipes.running import STEPS, field_step
from headgate.graph.model import Edge
from headgate.graph.names import listed


def _no(work: Work, key: str, **values: object) -> CannotBuild:
    steps = listed([node.id for node in work.draft.nodes.values()])
    return CannotBuild(f"{work.text_of(key, **values)} {work.text_of('steps', steps=steps)}")


def _rename(work: Work, slots: Slots) -> None:
    new = slug(slots["new"])
    if not new or new in work.draft.nodes:
        raise _no(work, "bad_step_name", new=slots["new"])
    work.draft.rename(slots["node"], new)
    work.renamed[slots["node"]] = new


def _remove(work: Work, slots: Slots) -> None:
    """A step that passes its value on is taken out of the line; its neighbours are connected."""
    draft, node_id = work.draft, slots["node"]
    before = [edge for edge in draft.edges if edge.target == node_id]
    after = [edge for edge in draft.edges if edge.source == node_id]
    draft.remove(node_id)
    if len(before) == 1:
        for edge in after:
            draft.connect(before[0].source, before[0].output, edge.target, edge.input)


def _set(work: Work, slots: Slots) -> None:
    draft = work.draft
    name, value = slug(slots["field"]), slots["value"]
    of = [slots["node"]] if "node" in slots else draft.nodes
    nodes = [node for node in of if (template := draft.template(node)) is not None and template.field(name)]
    if len(nodes) != 1:
        raise _no(work, "which_field", name=name)
    draft.configure(nodes[0], **{name: value[0] if isinstance(value, tuple) else value})


_BRANCHES = frozenset({"timeout", "error"})


def _placed(build: Build) -> Build:
    """Puts what a recipe builds on the edge into a step, out of one, or into the end of the flow at hand."""

    def placed(work: Work, slots: Slots) -> Any:  # noqa: ANN401 - as a recipe
        draft = work.draft
        edges = _edges_at(work, slots)
        draft.edges = [edge for edge in draft.edges if edge not in edges]
        source, output = (
            (edges[0].source, edges[0].output) if edges else (slots["after"], _main_output(work, slots["after"]))
        )
        template = draft.template(source)
        port = template.output(output) if template is not None else None
        work.set(KINDS.get(port.type.value, "data") if port is not None else "data", source, output)
        more = build(work, slots)
        cursor = work.begin()
        for edge in edges:
            draft.connect(cursor.node, cursor.port, edge.target, edge.input)
        work.cursor = None
        return more

    return placed


def _edges_at(work: Work, slots: Slots) -> list[Edge]:
    draft = work.draft
    if "before" in slots:
        node_id = slots["before"]
        template = draft.template(node_id)
        main = template.main_field.name if template is not None and template.main_field is not None else ""
        edges = [edge for edge in draft.edges if edge.target == node_id]
        edges = [edge for edge in edges if edge.input == main] or edges
        if len(edges) != 1:
            raise _no(work, "one_edge", node_id=node_id)
        return edges
    if "after" in slots:
        edges = [edge for edge in draft.edges if edge.source == slots["after"] and edge.output not in _BRANCHES]
        if len({edge.output for edge in edges}) > 1:
            raise _no(work, "before_which_step")
        return edges
    end = _end(work)
    return [
        edge for edge in draft.edges if (edge.source, edge.output) == (end.source, end.output) and _is_end(work, edge)
    ]


def _number(work: Work, slots: Slots) -> None:
    """Change the one number of the flow that is meant: the old one, or the limit of a condition or a query."""
    new = f"{slots['number']:g}"
    if "old" in slots:
        old = re.escape(f"{slots['old']:g}")
        return _change(work, re.compile(rf"(?<![\w.]){old}(?![\w.])"), new)
    checks = [
        node
        for node in work.draft.nodes.values()
        if node.type == "If" and re.fullmatch(r"-?[\d.]+", str(node.params.get("compare", "")))
    ]
    if len(checks) != 1:
        raise _no(work, "which_limit")
    return work.draft.configure(checks[0].id, compare=new)


def _limit(work: Work, slots: Slots) -> None:
    _change(work, re.compile(r"(?<=LIMIT )\d+", re.IGNORECASE), f"{slots['number']:g}")


def _words(work: Work, slots: Slots) -> None:
    _change(work, re.compile(rf"(?<!\w){re.escape(slots['old'])}(?!\w)"), slots["new"])


def _change(work: Work, pattern: re.Pattern[str], new: str) -> None:
    """Replace what stands in exactly one value of the flow."""
    places = [
        (node, name, value) for node in work.draft.nodes.values() for name, value in node.params.items() if pattern.search(str(value))  # noqa: E501
    ]  # fmt: skip
    if len(places) != 1:
        raise _no(work, "which_number", places=len(places))
    node, name, value = places[0]
    changed: JsonValue = pattern.sub(lambda _: new, str(value))
    work.draft.configure(node.id, **{name: float(str(changed)) if isinstance(value, int | float) else changed})


def _connect(work: Work, slots: Slots) -> None:
    draft = work.draft
    source, target = draft.template(slots["node"]), draft.template(slots["other"])
    output = source.main_output if source is not None else None
    port = target.main_field if target is not None else None
    if output is None or port is None:
        raise _no(work, "which_words")
    draft.connect(slots["node"], output.name, slots["other"], port.name)


def _disconnect(work: Work, slots: Slots) -> None:
    draft = work.draft
    edges = [edge for edge in draft.edges if edge.source == slots["node"] and edge.target == slots["other"]]
    if not edges:
        raise _no(work, "cannot_connect")
    draft.edges = [edge for edge in draft.edges if edge not in edges]


def _end(work: Work) -> Edge:
    """The edge into the one step that shows, saves or sends."""
    ends = [edge for edge in work.draft.edges if _is_end(work, edge)]
    if len({(edge.source, edge.output) for edge in ends}) != 1:
        raise _no(work, "not_connected")
    return ends[0]


def _is_end(work: Work, edge: Edge) -> bool:
    return work.draft.nodes[edge.target].type in {"SaveFile", "ChatOutput", "MakeDocument"}


def _also_show(work: Work, slots: Slots) -> None:
    edge = _end(work)
    source, output = (
        (slots["node"], _main_output(work, slots["node"])) if "node" in slots else (edge.source, edge.output)
    )
    node = work.draft.add("ChatOutput", "show")
    work.draft.connect(source, output, node, "input")


def _main_output(work: Work, node_id: str) -> str:
    template = work.draft.template(node_id)
    if template is None or template.main_output is None:
        raise _no(work, "one_result")
    return template.main_output.name


def _also_save(work: Work, slots: Slots) -> None:
    edge = _end(work)
    node = work.draft.add("SaveFile", "save", {"name": slots["file"]})
    work.draft.connect(edge.source, edge.output, node, "content")


def _never(_work: Work, _slots: Slots) -> None:
    """A run is a tool call of its own; nothing is built for it."""


EDITS: dict[str, Step] = {
    "rename_step": Step("edit", "none", _rename),
    "remove_step": Step("edit", "none", _remove),
    "set_value": Step("edit", "none", _set),
    "save_as": field_step(("SaveFile",), lambda slots: {"name": slots["file"]}),
    "address": field_step(("URL", "HTTPRequest", "WebhookOut"), lambda slots: {"url": slots["url"]}),
    "seconds": field_step(("Wait",), lambda slots: {"seconds": slots["duration"].seconds}),
    "wait_at": Step("edit", "none", _placed(DECISIONS["wait"].build)),
    "put_at": Step("edit", "none", _placed(OUTSIDE["component"].build)),
    "change_limit": Step("edit", "none", _number),
    "change_top": Step("edit", "none", _limit),
    "change_words": Step("edit", "none", _words),
    "connect": Step("edit", "none", _connect),
    "disconnect": Step("edit", "none", _disconnect),
    "also_show": Step("edit", "none", _also_show),
    "also_save": Step("edit", "none", _also_save),
}  # fmt: skip
PLACED = {key: Step("edit", "none", _placed(step.build)) for key, step in STEPS.items()}
"""The same steps in the flow at hand."""
RUNS: dict[str, Step] = {
    "run": Step("run", "none", _never),
}  # fmt: skip
