"""`headgate templates`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.components import BUILTINS
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.catalog.gallery import Recipe, find_recipe, load_gallery, recipe_index
from headgate.features.catalog.registry import Registry
from headgate.features.flows.from_template import create_from_template
from headgate.graph.draw import draw
from headgate.graph.names import listed

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Ready-made flows to start from.")
Name = Annotated[str, typer.Argument(help="Name of the template.")]


@app.command("list")
def list_(
    query: Annotated[str, typer.Argument(help="What the flow should do. Default: all.")] = "",
    json: JsonFlag = False,
) -> None:
    """List ready-made flows."""
    recipes = _search(query)
    print_rows(
        [_as_json(recipe) for recipe in recipes],
        ("template", "category", "what it does", "needs"),
        [(recipe.key, recipe.category, escape(recipe.description), _needs(recipe)) for recipe in recipes],
        json=json,
    )


@app.command()
def show(name: Name, json: JsonFlag = False) -> None:
    """Draw a ready-made flow and print its text."""
    recipe = find_recipe(name)
    if json:
        print_json({"id": recipe.key, "title": recipe.title, "spec": recipe.spec})
        return
    console.print(f"[bold]{escape(recipe.title)}[/]\n{escape(recipe.description)}\n")
    console.print(draw(recipe.flow(), Registry(BUILTINS)), markup=False)
    console.print()
    console.print(recipe.spec, markup=False)


@app.command()
def use(name: Name, json: JsonFlag = False) -> None:
    """Create a flow from a template, and publish the flows that its steps run. Nothing is run."""
    recipe = find_recipe(name)

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            row, called, notes = await create_from_template(
                session, acting(), installation.rules, recipe, installation.trigger_transfer
            )
        names = [flow.name for flow in called]
        lines = [f"Created and published [bold]{escape(flow.name)}[/] {flow.id}, which it runs" for flow in called]
        if recipe.triggers and not notes:
            lines += [f"Added the trigger '{escape(trigger.name)}', switched off" for trigger in recipe.triggers]
        print_result(
            {"id": row.id, "name": row.name, "revision": row.revision, "also_created": names, "notes": list(notes)},
            "\n".join([*lines, *map(escape, notes), f"Created [bold]{escape(row.name)}[/] {row.id}"]),
            json=json,
        )

    with_installation(work)


def _as_json(recipe: Recipe) -> dict[str, object]:
    return {
        "id": recipe.key,
        "title": recipe.title,
        "description": recipe.description,
        "category": recipe.category,
        "needs_model": recipe.needs_model,
        "needs_network": recipe.needs_network,
        "needs_flows": list(recipe.needs_flows),
        "needs_connections": [each.model_dump() for each in recipe.needs_connections(Registry(BUILTINS))],
        "triggers": [trigger.name for trigger in recipe.triggers],
    }


def _needs(recipe: Recipe) -> str:
    needs = [
        name for name, required in (("a model", recipe.needs_model), ("network", recipe.needs_network)) if required
    ]
    needs += [f"connection {each.name}" for each in recipe.needs_connections(Registry(BUILTINS))]
    return listed(needs) or "runs as it is"


def _search(query: str) -> list[Recipe]:
    recipes = load_gallery()
    if not query:
        return list(recipes)
    by_key = {recipe.key: recipe for recipe in recipes}
    return [by_key[match.key] for match in recipe_index(recipes).search(query)]
