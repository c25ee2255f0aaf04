"""A flow as a picture: static SVG with text and shapes, without scripts and external references.

```
<svg ...> boxes coloured by the kind of step or its status, solid edges for data, dotted edges for configuration
</svg>
```
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape

from headgate.graph.draw import cut
from headgate.graph.geometry import GROUP_TYPE, boxes
from headgate.graph.layout import COLUMN, arrange
from headgate.graph.model import Flow, InputSource
from headgate.graph.ports import PortType
from headgate.graph.template import Catalog
from headgate.graph.wiring import Wire, Wiring, ancestor_masks, wire

BOX_WIDTH = 220.0
BOX_HEIGHT = 88.0
MARGIN = 24.0
_ACROSS, _DOWN = 0.8, 0.62
"""Scale of canvas units in the picture: boxes are smaller than nodes, and so is the space between them."""
_BAND_GAP = 56.0
_TITLE_HEIGHT = 44.0
_FONT = "Inter, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
INK, MUTED, LINE = "#1d2a2c", "#53615f", "#b9c4c4"
_ROLES = {"input": "#0f766e", "model": "#9a6700", "output": "#6d4bc1", "step": "#5b6b6d", "other": "#8a9798"}
_STATES = {
    "completed": ("#1a7f42", "#eaf7ee"),
    "failed": ("#c22f2a", "#fdeeed"),
    "running": ("#1d66b8", "#ebf3fc"),
    "waiting": ("#1d66b8", "#ebf3fc"),
    "cancelled": ("#9a6700", "#fbf4e0"),
    "skipped": ("#9aa5a6", "#f0f3f3"),
}
_PORTS = {
    PortType.TEXT: "#2f7fae",
    PortType.MESSAGE: "#7a55c9",
    PortType.DATA: "#a8681b",
    PortType.TABLE: "#2c8a4b",
    PortType.FILE: "#197f86",
    PortType.MODEL: "#bf3f92",
    PortType.TOOL: "#bb5233",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """Additional content of a node's box."""

    status: str = ""
    """Its status in a run."""
    detail: str = ""
    """One line: time and tokens, or why it failed."""
    chip: str = ""
    """Its classification."""


@dataclass(frozen=True, slots=True)
class _Spot:
    x: float
    y: float
    band: int = 0
    width: float = BOX_WIDTH
    height: float = BOX_HEIGHT


def picture(
    flow: Flow,
    catalog: Catalog | None = None,
    *,
    shown: Mapping[str, Shown] | None = None,
    title: str = "",
    columns: int | None = None,
) -> str:
    """Return the flow as an SVG document. Works on any flow, also an invalid one; deterministic.

    Args:
        flow: The flow.
        catalog: Names of kinds and types of ports.
        shown: Node id to additional content.
        title: Above the picture; empty for none.
        columns: Lay it out again, wrapped after so many columns: a picture as wide as a page.
    """
    wiring = wire(flow, catalog)
    spots = _folded(flow, catalog, columns) if columns else _as_placed(flow, catalog)
    top = MARGIN + (_TITLE_HEIGHT if title else 0)
    spots = {key: replace(spot, x=spot.x + MARGIN, y=spot.y + top) for key, spot in spots.items()}
    width = max((spot.x + spot.width for spot in spots.values()), default=MARGIN + BOX_WIDTH) + MARGIN
    height = max((spot.y + spot.height for spot in spots.values()), default=top + BOX_HEIGHT) + MARGIN
    name = title or flow.name
    size = f'width="{_n(width)}" height="{_n(height)}"'
    box = f'viewBox="0 0 {_n(width)} {_n(height)}" role="img" font-family="{escape(_FONT)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}>',
        f"<title>{_text(name)}</title>",
        f'<rect {size} fill="#ffffff"/>',
    ]
    if title:
        most = max(int((width - 2 * MARGIN) / 11), 8)
        lines.append(_words(MARGIN, MARGIN + 20, cut(title, most), size=20, weight=600))
    frames = [key for key, node in wiring.nodes.items() if node.type == GROUP_TYPE]
    for key in frames:
        lines += _frame(wiring, key, spots[key])
    lines += _edges(wiring, spots)
    for key in (key for key in wiring.nodes if key not in frames):
        lines += _box(wiring, key, spots[key], (shown or {}).get(key, Shown()))
    return "\n".join([*lines, "</svg>", ""])


def role_of(wiring: Wiring, node_id: str) -> str:
    """Return the role of a step in its flow: `input`, `model`, `output` or `step`; `other` for other nodes."""
    if node_id not in wiring.parents:
        return "other"
    template = wiring.templates[node_id]
    if template is not None and template.model_using:
        return "model"
    if not wiring.parents[node_id]:
        return "input"
    return "step" if wiring.children[node_id] else "output"


def _as_placed(flow: Flow, catalog: Catalog | None) -> dict[str, _Spot]:
    """Return manual positions; laid out automatically when there are none."""
    positions = {(node.position.x, node.position.y) for node in flow.nodes}
    if len(positions) < len({node.id for node in flow.nodes}):
        flow = arrange(flow, catalog)
    left = min((node.position.x for node in flow.nodes), default=0.0)
    top = min((node.position.y for node in flow.nodes), default=0.0)
    spots: dict[str, _Spot] = {}
    for node, box in zip(flow.nodes, boxes(flow, catalog), strict=True):
        x, y = (node.position.x - left) * _ACROSS, (node.position.y - top) * _DOWN
        frame = node.type == GROUP_TYPE
        spot = _Spot(x, y, width=box.width * _ACROSS, height=box.height * _DOWN) if frame else _Spot(x, y)
        spots.setdefault(node.id, spot)
    return spots


def _folded(flow: Flow, catalog: Catalog | None, columns: int) -> dict[str, _Spot]:
    """Return a new layout in bands of so many columns, one below the other."""
    placed: dict[str, tuple[int, float, float]] = {}
    for node in arrange(flow, catalog).nodes:
        column = max(int((node.position.x + COLUMN / 2) // COLUMN), 0)
        band, place = divmod(column, columns)
        x = place * COLUMN + (node.position.x - column * COLUMN)
        placed.setdefault(node.id, (band, x * _ACROSS, node.position.y * _DOWN))
    left = min((x for _, x, _ in placed.values()), default=0.0)
    spots: dict[str, _Spot] = {}
    start = 0.0
    for band in sorted({band for band, _, _ in placed.values()}):
        band_nodes = {key: (x, y) for key, (own, x, y) in placed.items() if own == band}
        highest = min(y for _, y in band_nodes.values())
        for key, (x, y) in band_nodes.items():
            spots[key] = _Spot(x - left, start + y - highest, band)
        start = max(spots[key].y for key in band_nodes) + BOX_HEIGHT + _BAND_GAP
    return spots


def _edges(wiring: Wiring, spots: Mapping[str, _Spot]) -> Iterator[str]:
    for leaving in wiring.leaving.values():
        for edge_wire in leaving:
            yield _edge(edge_wire, spots[edge_wire.edge.source], spots[edge_wire.edge.target])
    bits, masks = ancestor_masks(wiring)
    for reader in wiring.order:
        implied = wiring.implied.get(reader, ())
        reads_all = wiring.nodes[reader].policy.input_source is InputSource.ALL_PREVIOUS_STEPS
        for step in wiring.order if reads_all else implied:
            if step in implied or (masks[reader] & bits[step] and step not in wiring.parents[reader]):
                path = _across(spots[step], spots[reader])
                yield _path(path, _ROLES["step"], "9 6")


def _edge(edge_wire: Wire, source: _Spot, target: _Spot) -> str:
    colour = _PORTS[edge_wire.type] if edge_wire.type is not None else _ROLES["step"]
    if edge_wire.configures and target.y + BOX_HEIGHT <= source.y:
        return _path(_upwards(source, target), colour, "2 5")
    return _path(_across(source, target), colour, "2 5" if edge_wire.configures else "")


def _across(source: _Spot, target: _Spot) -> str:
    """Return the path from the right side to the left side; downwards from one band to a later one."""
    if target.band > source.band:
        x1, y1 = source.x + BOX_WIDTH / 2, source.y + BOX_HEIGHT
        x2, y2 = target.x + BOX_WIDTH / 2, target.y
        return f"M{_n(x1)} {_n(y1)}C{_n(x1)} {_n(y1 + 40)} {_n(x2)} {_n(y2 - 40)} {_n(x2)} {_n(y2)}"
    x1, y1 = source.x + BOX_WIDTH, source.y + BOX_HEIGHT / 2
    x2, y2 = target.x, target.y + BOX_HEIGHT / 2
    bend = max(28.0, abs(x2 - x1) / 2)
    return f"M{_n(x1)} {_n(y1)}C{_n(x1 + bend)} {_n(y1)} {_n(x2 - bend)} {_n(y2)} {_n(x2)} {_n(y2)}"


def _upwards(source: _Spot, target: _Spot) -> str:
    x1, y1 = source.x + BOX_WIDTH / 2, source.y
    x2, y2 = target.x + BOX_WIDTH / 2, target.y + BOX_HEIGHT
    bend = max(12.0, (y1 - y2) / 2)
    return f"M{_n(x1)} {_n(y1)}C{_n(x1)} {_n(y1 - bend)} {_n(x2)} {_n(y2 + bend)} {_n(x2)} {_n(y2)}"


def _path(d: str, colour: str, dashes: str) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="2" stroke-linecap="round"{dashed}/>'


def _frame(wiring: Wiring, key: str, spot: _Spot) -> Iterator[str]:
    title = wiring.nodes[key].params.get("title")
    size = f'width="{_n(spot.width)}" height="{_n(spot.height)}"'
    yield f'<g transform="translate({_n(spot.x)} {_n(spot.y)})">'
    yield f'<rect {size} rx="12" fill="#f3f6f6" stroke="#d3dbdb" stroke-width="1.5"/>'
    words = title if isinstance(title, str) else ""
    yield _words(14, 22, cut(words, max(int(spot.width / 8), 4)), size=13, weight=600, colour=MUTED)
    yield "</g>"


def _box(wiring: Wiring, key: str, spot: _Spot, more: Shown) -> Iterator[str]:
    node, template = wiring.nodes[key], wiring.templates[key]
    colour = _ROLES[role_of(wiring, key)]
    stroke, fill = _STATES.get(more.status, (LINE, "#ffffff"))
    if key in wiring.notes:
        stroke, fill = "#dcc77f", "#fdf8e4"
    yield f'<g transform="translate({_n(spot.x)} {_n(spot.y)})">'
    yield (
        f'<rect width="{_n(BOX_WIDTH)}" height="{_n(BOX_HEIGHT)}" rx="9" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{2 if more.status else 1.5}"/>'
    )
    if key in wiring.notes:
        text = node.params.get("text")
        yield _words(14, 34, cut(text if isinstance(text, str) and text else key, 30), size=13, colour=MUTED)
    else:
        yield f'<rect x="0.75" y="14" width="5" height="{_n(BOX_HEIGHT - 28)}" rx="2.5" fill="{colour}"/>'
        yield _words(18, 30, cut(node.label or key, 19 if more.chip else 25), size=15, weight=600)
        yield _words(18, 50, cut(template.label if template else node.type, 30), size=12.5, colour=colour)
        detail = more.detail or more.status or (key if node.label else "")
        yield _words(18, 71, cut(detail, 32), size=12, colour=stroke if more.status else MUTED)
        if more.chip:
            yield _words(BOX_WIDTH - 14, 29, cut(more.chip, 6), size=12, weight=700, colour=MUTED, anchor="end")
    yield "</g>"


def _words(
    x: float, y: float, text: str, *, size: float, weight: int = 400, colour: str = INK, anchor: str = "start"
) -> str:
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="{anchor}">{_text(text)}</text>'
    )


def _text(text: str) -> str:
    """Return a text that is valid in XML; characters that XML does not support are omitted."""
    return escape(_NOT_XML.sub("", text), quote=False)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
