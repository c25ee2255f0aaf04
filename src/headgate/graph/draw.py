"""A flow as a drawing for a terminal: one line a step, edges as lanes next to it.

```
Licence report
○   packages  InstalledPackages
│
○   check     If
├─╮
○ │ praise    AIStep            ← check.true [model: llm]
│ ○ explain   AIStep            ← check.false [model: llm]
├─╯
○   report    SaveFile
```
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headgate.graph.model import Flow
from headgate.graph.template import Catalog
from headgate.graph.wiring import Wiring, wire

MOST_SPACED_STEPS = 40
"""Longer flows are drawn without empty lanes between their steps."""
_NARROWEST_TEXT = 36
_NODE = "○"


def draw(flow: Flow, catalog: Catalog | None = None, *, width: int = 80) -> str:
    """Return the drawing, at most `width` cells wide. Works on any flow, also an invalid one.

    A flow with more lanes than fit is listed in running order instead, each step with the steps it follows.
    """
    wiring = wire(flow, catalog)
    lanes = _lanes(wiring)
    if max((len(row.marks) for row in lanes), default=0) > max(width - _NARROWEST_TEXT, 1):
        lanes = [_Row(f"{number:>3}.", step) for number, step in enumerate(wiring.order, start=1)]
        texts = _texts(wiring, parents=True)
    else:
        texts = _texts(wiring, parents=False)
    margin = max((len(row.marks) for row in lanes if row.step), default=0)
    lines = [_joined(row, texts.get(row.step, ""), margin) for row in lanes]
    lines = [flow.name, *lines, *_rest(wiring)]
    return "\n".join(cut(line.rstrip(), width) for line in lines)


def cut(text: str, width: int) -> str:
    """Return the text in one line of at most `width` terminal cells, with an ellipsis when it was cut."""
    line = " ".join(text.split("\n")) if "\n" in text else text
    line = "".join(char if char.isprintable() else "·" for char in line)
    if cells(line) <= width:
        return line
    characters, used = [], 0
    for char in line:
        used += cells(char)
        if used > width - 1:
            break
        characters.append(char)
    return "".join(characters).rstrip() + "…"


def cells(text: str) -> int:
    """Return the number of terminal cells of a text: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


@dataclass(slots=True)
class _Row:
    """One line of the drawing: its lanes and the step it names, if any."""

    marks: str
    step: str = ""


@dataclass(slots=True)
class _Lanes:
    """The open lanes while drawing: each leads to a later step, or is free."""

    heads: list[str] = field(default_factory=list)

    def open(self, target: str, after: int = -1) -> int:
        """Open a lane to a step, at the first free position after another lane."""
        for index in range(after + 1, len(self.heads)):
            if not self.heads[index]:
                self.heads[index] = target
                return index
        self.heads.append(target)
        return len(self.heads) - 1

    def close(self, index: int) -> None:
        """Free a lane."""
        self.heads[index] = ""
        while self.heads and not self.heads[-1]:
            self.heads.pop()

    def row(self, marks: Mapping[int, str] | None = None) -> str:
        """Return the lanes as text, some of them with other marks."""
        lane_marks = marks or {}
        return " ".join(lane_marks.get(place) or ("│" if head else " ") for place, head in enumerate(self.heads))


def _lanes(wiring: Wiring) -> list[_Row]:
    rows: list[_Row] = []
    lanes = _Lanes()
    spaced = len(wiring.order) <= MOST_SPACED_STEPS
    positions = {step: number for number, step in enumerate(wiring.order)}
    for number, step in enumerate(wiring.order):
        own_lane = lanes.heads.index(step) if step in lanes.heads else lanes.open(step)
        rows.append(_Row(lanes.row({own_lane: _NODE}), step))
        children = sorted((child for child in wiring.children[step] if child in positions), key=positions.__getitem__)
        joined = [lanes.heads.index(child) for child in children if child in lanes.heads]
        new_children = [child for child in children if child not in lanes.heads]
        if new_children:
            lanes.heads[own_lane] = new_children[0]
        opened = [lanes.open(child, own_lane) for child in new_children[1:]]
        if joined or opened:
            rows.append(_Row(_branching(lanes, own_lane, set(joined), set(opened), ends=not new_children)))
        elif spaced and new_children and wiring.order[number + 1 : number + 2] == (new_children[0],):
            rows.append(_Row(lanes.row()))
        if not new_children:
            lanes.close(own_lane)
            if not joined and spaced and number + 1 < len(wiring.order):
                rows.append(_Row(lanes.row()))
    return rows


def _branching(lanes: _Lanes, own_lane: int, joined: set[int], opened: set[int], *, ends: bool) -> str:
    """Return the line on which a step's lane meets the lanes it leads into."""
    ends_at = joined | opened
    left, right = min({own_lane, *ends_at}), max({own_lane, *ends_at})
    cells_ = []
    for index, head in enumerate(lanes.heads):
        inside = left <= index <= right
        mark = "│" if head else ("─" if inside else " ")
        if index == own_lane:
            mark = _own_mark(left < own_lane, right > own_lane, ends=ends)
        elif index in joined:
            mark = "├" if index == left else ("┤" if index == right else "┼")
        elif index in opened:
            mark = "╭" if index == left else ("╮" if index == right else "┬")
        cells_.append(mark + ("─" if left <= index < right else " "))
    return "".join(cells_).rstrip()


def _own_mark(to_left: bool, to_right: bool, *, ends: bool) -> str:  # noqa: FBT001
    if to_left and to_right:
        return "┴" if ends else "┼"
    if to_left:
        return "╯" if ends else "┤"
    return "╰" if ends else "├"


def _texts(wiring: Wiring, *, parents: bool) -> dict[str, str]:
    """Return the text of each step: id, type, label, sources, attachments."""
    wide = max((len(step) for step in wiring.order), default=0)
    types = max((len(wiring.nodes[step].type) for step in wiring.order), default=0)
    texts: dict[str, str] = {}
    for step in wiring.order:
        node = wiring.nodes[step]
        parts = [f"{step:<{min(wide, 24)}}  {node.type:<{min(types, 20)}}"]
        parts += [f'"{node.label}"'] if node.label else []
        sources = list(wiring.parents[step]) if parents else _by_output(wiring, step)
        parts += [f"← {', '.join(sources)}"] if sources else []
        parts += _attached(wiring, step)
        texts[step] = " ".join(parts)
    return texts


def _by_output(wiring: Wiring, step: str) -> list[str]:
    """Return `check.true` for each source with more than one used output."""
    labels: dict[str, None] = {}
    for edge_wire in wiring.data_into(step):
        outputs = {other.edge.output for other in wiring.leaving[edge_wire.edge.source] if not other.configures}
        if len(outputs) > 1:
            labels[f"{edge_wire.edge.source}.{edge_wire.edge.output}"] = None
    return list(labels)


def _attached(wiring: Wiring, step: str) -> list[str]:
    """Return `[model: llm, tools: calc, url]`: the attachments, and the model in a param."""
    by_input: dict[str, list[str]] = {}
    for edge_wire in wiring.attachments(step):
        by_input.setdefault(edge_wire.edge.input, []).append(edge_wire.edge.source)
    model = wiring.nodes[step].params.get("model")
    if "model" not in by_input and model:
        names = (model.get("provider"), model.get("name")) if isinstance(model, dict) else (model,)
        by_input["model"] = ["/".join(str(name) for name in names)]
    inside = ", ".join(f"{name}: {', '.join(sources)}" for name, sources in by_input.items())
    return [f"[{inside}]"] if inside else []


def _joined(row: _Row, text: str, margin: int) -> str:
    return f"{row.marks:<{margin}} {text}" if row.step else row.marks


def _rest(wiring: Wiring) -> Iterable[str]:
    """Yield what is not drawn: steps in a cycle, unused configuration, notes."""
    if not wiring.steps:
        yield "(no steps)"
    drawn_steps = set(wiring.order)
    circle = [step for step in wiring.steps if step not in drawn_steps]
    if circle:
        yield f"↻ in a circle: {', '.join(circle)}"
    nested = [
        f"{key} [{wiring.nodes[key].type}]{''.join(f' {text}' for text in _attached(wiring, key))}"
        for key in wiring.nodes
        if key in wiring.configuration and wiring.attachments(key)
    ]
    if nested:
        yield f"+ {', '.join(nested)}"
    for key in wiring.nodes:
        if key in wiring.notes:
            yield f"# {wiring.nodes[key].params.get('text', '')}"
