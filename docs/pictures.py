"""Pictures drawn from the code: the layers that `lint-imports` checks, and the state machines of runs."""

import tomllib
from collections.abc import Iterable
from enum import StrEnum
from html import escape
from pathlib import Path

from headgate.features.runs import states

ROOT = Path(__file__).parents[1]
PURPOSE = {
    "entrypoints": "HTTP server, workers, command line, MCP server: composition only",
    "agents": "the assistant and the development agent",
    "toolkit": "operations on a flow, shared by agents and MCP clients",
    "features": "one package per feature: routes, service, repository, tables",
    "components": "built-in components",
    "sdk | sandbox": "component SDK  |  isolated execution of foreign code",
    "graph": "the flow language: model, plan, text, edits, hashes; no I/O",
    "foundation": "settings, database, errors, encryption, events, logs, guarded HTTP",
}
INK, LINE, ACCENT = "#1f2937", "#94a3b8", "#0f766e"
Place = tuple[int, int]
RUN = {
    "queued": (0, 1),
    "running": (1, 0),
    "paused": (1, 1),
    "waiting": (1, 2),
    "completed": (2, 0),
    "failed": (2, 1),
    "cancelled": (2, 2),
}
STEP = {
    "pending": (0, 1),
    "running": (1, 0),
    "waiting": (1, 1),
    "completed": (2, 0),
    "failed": (2, 1),
    "cancelled": (2, 2),
    "skipped": (1, 2),
}
ATTEMPT = {
    "started": (0, 1),
    "completed": (1, 0),
    "failed": (1, 1),
    "retried": (1, 2),
    "suspended": (1, 3),
    "cancelled": (1, 4),
}


def layers() -> dict[str, list[str]]:
    """The layers of each package that a contract of import-linter names, highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return {
        contract["containers"][0]: contract["layers"]
        for contract in contracts
        if contract["type"] == "layers" and contract["containers"]
    }


def architecture_picture() -> str:
    """The layers of the server, and inside `features` those of its packages."""
    floors = layers()["headgate"]
    rows: list[str] = []
    top = 16
    for name in floors:
        inner = [part.replace(" | ", ", ") for part in layers()["headgate.features"]] if name == "features" else []
        height = 52 + 24 * len(inner)
        rows.append(_box(16, top, 728, height, accent=name == "features"))
        rows.append(_text(32, top + 24, name.replace(" | ", "   |   "), weight=600))
        rows.append(_text(32, top + 43, PURPOSE[name], size=13))
        for index, part in enumerate(inner):
            rows.append(_box(48, top + 50 + 24 * index, 680, 21))
            rows.append(_text(60, top + 65 + 24 * index, part, size=13))
        top += height + 10
    rows.append(
        _text(16, top + 14, "A package imports only from those below it; `make check` refuses the rest.", size=13)
    )
    return _svg(760, top + 30, "The layers of Headgate", rows)


def run_picture() -> str:
    """States of a run."""
    return _machine("States of a run", RUN, states.RUN_MOVES, states.RUN_RESUMES | states.RUN_CONTINUES)


def step_picture() -> str:
    """States of a step."""
    return _machine("States of a step", STEP, states.STEP_MOVES, states.STEP_RESUMES)


def attempt_picture() -> str:
    """States of an attempt."""
    return _machine("States of an attempt", ATTEMPT, states.ATTEMPT_MOVES, ())


def _machine(
    title: str,
    places: dict[str, Place],
    moves: Iterable[tuple[StrEnum, StrEnum]],
    resumes: Iterable[tuple[StrEnum, StrEnum]],
) -> str:
    arrows = [_arrow(places[before], places[after], dashed=False) for before, after in sorted(moves)]
    arrows += [_arrow(places[before], places[after], dashed=True) for before, after in sorted(resumes)]
    boxes: list[str] = []
    for name, (column, row) in places.items():
        left, top = _corner(column, row)
        boxes += [_box(left, top, 120, 36), _text(left + 60, top + 23, name, anchor="middle")]
    columns, rows = (max(place[axis] for place in places.values()) + 1 for axis in (0, 1))
    note = [_text(24, 80 * rows + 22, "dashed: by a request to resume or continue", size=12)] if resumes else []
    return _svg(220 * columns - 40, 80 * rows + 34, title, [*arrows, *boxes, *note])


def _corner(column: int, row: int) -> tuple[int, int]:
    return 24 + 220 * column, 24 + 80 * row


def _arrow(before: Place, after: Place, *, dashed: bool) -> str:
    (left, top), (to_left, to_top) = _corner(*before), _corner(*after)
    if before == after:
        path = f"M {left + 40} {top + 36} C {left + 30} {top + 66} {left + 90} {top + 66} {left + 80} {top + 40}"
    elif to_left > left:
        path = f"M {left + 120} {top + 18} L {to_left - 6} {to_top + 18}"
    elif to_left == left:
        path = f"M {left + 60} {top + 36} L {to_left + 60} {to_top - 6}"
    else:
        bend = max(top, to_top) + 62
        path = f"M {left + 60} {top + 36} Q {(left + to_left) // 2 + 60} {bend} {to_left + 100} {to_top + 42}"
    style = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{ACCENT}" stroke-width="1.5"{style} marker-end="url(#tip)"/>'


def _box(left: int, top: int, width: int, height: int, *, accent: bool = False) -> str:
    fill = "#f0fdfa" if accent else "#ffffff"
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="6" fill="{fill}"'
        f' stroke="{ACCENT if accent else LINE}"/>'
    )


def _text(left: int, top: int, text: str, *, size: int = 14, weight: int = 400, anchor: str = "start") -> str:
    return (
        f'<text x="{left}" y="{top}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
        f' fill="{INK}">{escape(text)}</text>'
    )


def _svg(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    tip = '<marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif">'
    )
    marker = f'<defs>{tip}<path d="M 0 0 L 8 4 L 0 8 z" fill="{ACCENT}"/></marker></defs>'
    card = f'<rect width="{width}" height="{height}" rx="8" fill="#f8fafc"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", marker, card, *parts, "</svg>", ""])
