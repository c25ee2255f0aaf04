"""A flow as a Markdown document: what it is, what it takes and gives, its steps, and its text."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from headgate.agents.assistant.offline.build.draft import slug
from headgate.graph.model import Flow
from headgate.graph.spec import print_spec
from headgate.graph.template import Catalog
from headgate.toolkit.reading import first_sentence
from headgate.toolkit.shown import shown_flow

_INPUTS = {"chat": "a chat message", "text": "a text", "form": "answers of the form", "files": "files"}
_OUTPUTS = {"chat": "a chat message", "text": "a text", "data": "data", "file": "a file", "webhook": "a call"}


def file_name(flow: Flow) -> str:
    """Default file name for the document of a flow: `count-by-licence.md`."""
    return f"{slug(flow.name).replace('_', '-') or 'flow'}.md"


def document(flow: Flow, catalog: Catalog, described: Mapping[str, Any]) -> str:
    """The document.

    Args:
        flow: The flow; what looks like a secret in it is omitted.
        catalog: Says what its components do.
        described: What `describe_flow_io` answered.
    """
    return "\n".join(_lines(shown_flow(flow, catalog), catalog, described)).rstrip() + "\n"


def _lines(flow: Flow, catalog: Catalog, described: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {_line(flow.name)}"
    if flow.description.strip():
        yield from ("", flow.description.strip())
    yield from _section("What it takes", _inputs(described))
    yield from _section("What it gives", _outputs(described))
    yield from _section("Steps", _steps(flow, catalog))
    issues = [_line(str(issue.get("message", ""))) for issue in _rows(described, "issues")]
    if issues:
        yield from _section("Before it can run", issues)
    spec = print_spec(flow).rstrip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", spec)), default=0))
    yield from ("", "## The flow as text", "", fence, spec, fence)


def _section(title: str, lines: list[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    yield from (f"- {line}" for line in lines or ["Nothing."])


def _inputs(described: Mapping[str, Any]) -> list[str]:
    lines = [
        f"`{row.get('node')}`: {_INPUTS.get(str(row.get('kind')), row.get('kind'))}"
        for row in _rows(described, "inputs")
    ]
    return lines + [
        f"form field `{field.get('id')}`: {_line(str(field.get('label') or field.get('id')))} ({field.get('type')})"
        for field in _rows(described, "form")
    ]


def _outputs(described: Mapping[str, Any]) -> list[str]:
    return [
        f"`{row.get('node')}`: {_OUTPUTS.get(str(row.get('kind')), row.get('kind'))}"
        for row in _rows(described, "outputs")
    ]


def _steps(flow: Flow, catalog: Catalog) -> list[str]:
    lines = []
    for node in flow.nodes:
        template = catalog.template(node.type, node.params)
        does = node.label or (first_sentence(template.description) if template is not None else "")
        lines.append(f"`{node.id}` ({node.type})" + (f": {_line(does)}" if does else ""))
    return lines


def _rows(described: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = described.get(name)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _line(text: str) -> str:
    return " ".join(text.split())
