"""Generates the reference page of the components from the components themselves.

`python -m headgate.components.document docs/reference/components.md` writes it; a test keeps the page current.
"""

import json
import sys
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from headgate.components import BUILTINS
from headgate.graph.template import FieldKind, FieldTemplate, OutputTemplate, Template
from headgate.sdk import Component, tool_name

_HEAD = """# Components

This page is generated from the components themselves (`make docs`). The examples are whole flows in the text form that
`headgate validate` and the assistant read.

- **Inputs**: a field in bold must be filled or connected. *Connects* lists the types an edge may bring; *many* takes
  several edges, in their order. The main input is marked with ●: it is what a step's input source fills.
- **Outputs**: the first one is what `{{step.output}}` stands for. *Branch* outputs may stay untaken; what hangs only on
  them is then skipped.
- `{{...}}` in a field is replaced by values of earlier steps before the step runs, except where a field says otherwise.
- **Tool**: components with fields an agent can fill can be connected to an Agent or a Map with their `tool` output.
"""
_CATEGORIES = {
    "input": "Input",
    "output": "Output",
    "text": "Text",
    "data": "Data",
    "web": "Web",
    "logic": "Logic",
    "code": "Code",
    "ai": "AI",
    "note": "Note",
}


def components_page(components: Iterable[type[Component]] = BUILTINS) -> str:
    """Return the page as Markdown: one section per component, by category in palette order."""
    templates = [component.template() for component in components]
    parts = [_HEAD]
    for category, title in _CATEGORIES.items():
        selected = [template for template in templates if template.category == category]
        parts.append(
            f"## {title}\n\n"
            + "\n".join(f"- [{entry.type}](#{entry.type.lower()}): {entry.label}" for entry in selected)
        )
        parts += [_section(template, _tool_line(template)) for template in selected]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def example(type_name: str) -> str:
    """Return the example flow of a built-in component, in text form; empty when there is none."""
    resource = files("headgate.components.examples") / f"{type_name}.flow"
    return resource.read_text(encoding="utf-8") if resource.is_file() else ""


def _section(template: Template, tool: str) -> str:
    parts = [f"### {template.type}", template.description, _facts(template), tool]
    if template.fields:
        rows = [_field_row(field, main=field == template.main_field) for field in template.fields]
        parts.append("| input | kind | connects | default | what |\n|---|---|---|---|---|\n" + "\n".join(rows))
    if template.outputs:
        rows = [_output_row(output) for output in template.outputs]
        parts.append("| output | type | what |\n|---|---|---|\n" + "\n".join(rows))
    parts.append(f"```\n{example(template.type).strip()}\n```" if example(template.type) else "")
    return "\n\n".join(part for part in parts if part)


def _facts(template: Template) -> str:
    facts = []
    if template.effect:
        facts.append("Has an external effect: it is never repeated automatically without notice.")
    if template.model_using:
        facts.append("Calls a language model.")
    return " ".join(facts)


def _tool_line(template: Template) -> str:
    names = [f"`{field.name}`" for field in template.fields if field.tool_mode]
    return f"Tool: `{tool_name(template.type)}`({', '.join(names)})." if names else ""


def _field_row(field: FieldTemplate, *, main: bool) -> str:
    name = f"**{field.name}**" if field.required else field.name
    connects = ", ".join(field.types) + (", many" if field.many else "")
    kind = " / ".join(field.options) if field.options else field.kind.value
    help_ = field.help if field.interpolate or field.kind is FieldKind.TOOLS else f"{field.help} No `{{{{...}}}}`."
    return f"| {name}{' ●' if main else ''} | {_cell(kind)} | {connects} | {_default(field)} | {_cell(help_)} |"


def _default(field: FieldTemplate) -> str:
    if field.required or field.default in (None, "", [], {}):
        return ""
    return _cell(f"`{json.dumps(field.default, ensure_ascii=False)}`")


def _output_row(output: OutputTemplate) -> str:
    kind = f"{output.type}, branch" if output.branch else str(output.type)
    return f"| {output.name} | {kind} | {_cell(output.help)} |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(components_page(), encoding="utf-8")
