"""A flow as a drawing for a terminal: one line a step, edges as lanes beside it.

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
    """The drawing, no line wider than `width` cells. Works on any flow, also a faulty one.

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
    """The text in one line of at most `width` terminal cells, an ellipsis where something was cut."""
    line = " ".join(text.split("\n")) if "\n" in text else text
    line = "".join(char if char.isprintable() else "·" for char in line)
    if cells(line) <= width:
        return line
    kept, used = [], 0
    for char in line:
        used += cells(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def cells(text: str) -> int:
    """How many terminal cells a text takes: wide characters two, combining ones none."""
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
    """The open lanes while drawing: each leads to a step that is still to come, or is free."""

    heads: list[str] = field(default_factory=list)

    def open(self, target: str, after: int = -1) -> int:
        """A lane to a step, in the first free place behind another lane."""
        for place in range(after + 1, len(self.heads)):
            if not self.heads[place]:
                self.heads[place] = target
                return place
        self.heads.append(target)
        return len(self.heads) - 1

    def close(self, place: int) -> None:
        """Free a lane."""
        self.heads[place] = ""
        while self.heads and not self.heads[-1]:
            self.heads.pop()

    def row(self, marks: Mapping[int, str] | None = None) -> str:
        """The lanes as text, some of them with other marks."""
        chosen = marks or {}
        return " ".join(chosen.get(place) or ("│" if head else " ") for place, head in enumerate(self.heads))


def _lanes(wiring: Wiring) -> list[_Row]:
    rows: list[_Row] = []
    lanes = _Lanes()
    spaced = len(wiring.order) <= MOST_SPACED_STEPS
    place = {step: number for number, step in enumerate(wiring.order)}
    for number, step in enumerate(wiring.order):
        own = lanes.heads.index(step) if step in lanes.heads else lanes.open(step)
        rows.append(_Row(lanes.row({own: _NODE}), step))
        children = sorted((child for child in wiring.children[step] if child in place), key=place.__getitem__)
        joined = [lanes.heads.index(child) for child in children if child in lanes.heads]
        fresh = [child for child in children if child not in lanes.heads]
        if fresh:
            lanes.heads[own] = fresh[0]
        opened = [lanes.open(child, own) for child in fresh[1:]]
        if joined or opened:
            rows.append(_Row(_branching(lanes, own, set(joined), set(opened), ends=not fresh)))
        elif spaced and fresh and wiring.order[number + 1 : number + 2] == (fresh[0],):
            rows.append(_Row(lanes.row()))
        if not fresh:
            lanes.close(own)
            if not joined and spaced and number + 1 < len(wiring.order):
                rows.append(_Row(lanes.row()))
    return rows


def _branching(lanes: _Lanes, own: int, joined: set[int], opened: set[int], *, ends: bool) -> str:
    """The line on which a step's lane meets the lanes it leads into."""
    ends_at = joined | opened
    left, right = min({own, *ends_at}), max({own, *ends_at})
    cells_ = []
    for place, head in enumerate(lanes.heads):
        inside = left <= place <= right
        mark = "│" if head else ("─" if inside else " ")
        if place == own:
            mark = _own_mark(left < own, right > own, ends=ends)
        elif place in joined:
            mark = "├" if place == left else ("┤" if place == right else "┼")
        elif place in opened:
            mark = "╭" if place == left else ("╮" if place == right else "┬")
        cells_.append(mark + ("─" if left <= place < right else " "))
    return "".join(cells_).rstrip()


def _own_mark(to_left: bool, to_right: bool, *, ends: bool) -> str:  # noqa: FBT001
    if to_left and to_right:
        return "┴" if ends else "┼"
    if to_left:
        return "╯" if ends else "┤"
    return "╰" if ends else "├"


def _texts(wiring: Wiring, *, parents: bool) -> dict[str, str]:
    """What stands beside each step: id, type, label, where it comes from, what is attached."""
    wide = max((len(step) for step in wiring.order), default=0)
    types = max((len(wiring.nodes[step].type) for step in wiring.order), default=0)
    found: dict[str, str] = {}
    for step in wiring.order:
        node = wiring.nodes[step]
        parts = [f"{step:<{min(wide, 24)}}  {node.type:<{min(types, 20)}}"]
        parts += [f'"{node.label}"'] if node.label else []
        sources = list(wiring.parents[step]) if parents else _by_output(wiring, step)
        parts += [f"← {', '.join(sources)}"] if sources else []
        parts += _attached(wiring, step)
        found[step] = " ".join(parts)
    return found


def _by_output(wiring: Wiring, step: str) -> list[str]:
    """`check.true` for each source that is left by more than one output."""
    found: dict[str, None] = {}
    for one in wiring.data_into(step):
        outputs = {other.edge.output for other in wiring.leaving[one.edge.source] if not other.configures}
        if len(outputs) > 1:
            found[f"{one.edge.source}.{one.edge.output}"] = None
    return list(found)


def _attached(wiring: Wiring, step: str) -> list[str]:
    """`[model: llm, tools: calc, url]`: what is attached, and the model chosen in a param."""
    by_input: dict[str, list[str]] = {}
    for one in wiring.attachments(step):
        by_input.setdefault(one.edge.input, []).append(one.edge.source)
    chosen = wiring.nodes[step].params.get("model")
    if "model" not in by_input and chosen:
        names = (chosen.get("provider"), chosen.get("name")) if isinstance(chosen, dict) else (chosen,)
        by_input["model"] = ["/".join(str(name) for name in names)]
    inside = ", ".join(f"{name}: {', '.join(sources)}" for name, sources in by_input.items())
    return [f"[{inside}]"] if inside else []


def _joined(row: _Row, text: str, margin: int) -> str:
    return f"{row.marks:<{margin}} {text}" if row.step else row.marks


def _rest(wiring: Wiring) -> Iterable[str]:
    """What is not drawn: steps in a circle, what configures no step, notes."""
    if not wiring.steps:
        yield "(no steps)"
    drawn = set(wiring.order)
    circle = [step for step in wiring.steps if step not in drawn]
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
