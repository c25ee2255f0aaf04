"""`headgate components`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.components import BUILTINS
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.graph.template import Template
from headgate.toolkit.reading import first_sentence

app = typer.Typer(add_completion=False, no_args_is_help=False, invoke_without_command=True)


@app.command()
def components(
    query: Annotated[str, typer.Argument(help="What it should do, or its exact type; all when left out.")] = "",
    json: JsonFlag = False,
) -> None:
    """Search components, or describe one by its exact type."""
    registry = Registry(BUILTINS)
    exact = registry.template(query)
    if exact is not None:
        print_json(exact) if json else _describe(exact)
        return
    hits = component_index(registry).search(query) if query else []
    found = [registry.template(hit.key) for hit in hits] if query else list(registry.templates())
    templates = [template for template in found if template is not None]
    if json:
        print_json([{"type": one.type, "category": one.category, "description": one.description} for one in templates])
        return
    if not templates:
        console.print("Nothing fits. `headgate components` lists them all.")
        return
    rows = [(one.type, one.category, escape(first_sentence(one.description))) for one in templates]
    console.print(table(("type", "category", "what it does"), rows))


def _describe(template: Template) -> None:
    console.print(f"[bold]{template.type}[/] [dim]{template.category}[/]\n{escape(template.description)}\n")
    rows = []
    for field in template.fields:
        default = "required" if field.required else ("" if field.default in (None, "", [], {}) else field.default)
        accepts = " ".join(type_.value for type_ in field.types)
        rows.append((field.name, field.kind.value, accepts, escape(str(default)), escape(field.help)))
    console.print(table(("input", "kind", "takes from edges", "default", "what"), rows))
    outputs = [(out.name, out.type.value, escape(out.help)) for out in template.outputs]
    console.print()
    console.print(table(("output", "type", "what"), outputs))
