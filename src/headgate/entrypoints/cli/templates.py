"""`headgate templates`."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows
from headgate.entrypoints.cli.session import acting, on_installation, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.catalog.gallery import Recipe, recipe_index
from headgate.features.catalog.own.store import with_packs
from headgate.features.catalog.pack_templates import all_recipes, recipe_named
from headgate.features.flows.from_template import create_from_template
from headgate.graph.draw import draw
from headgate.graph.names import listed
from headgate.graph.template import Catalog

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Ready-made flows to start from.")
Name = Annotated[str, typer.Argument(help="Name of the template.")]


@app.command("list")
def list_(
    query: Annotated[str, typer.Argument(help="What the flow should do. Default: all.")] = "", json: JsonFlag = False
) -> None:
    """List ready-made flows."""
    recipes, catalog = with_installation(_all)
    recipes = _search(recipes, query)
    print_rows(
        [_as_json(recipe, catalog) for recipe in recipes],
        ("template", "category", "what it does", "needs"),
        [(recipe.key, recipe.category, escape(recipe.description), _needs(recipe, catalog)) for recipe in recipes],
        json=json,
    )


@app.command()
def show(name: Name, json: JsonFlag = False) -> None:
    """Draw a ready-made flow and print its text."""
    recipe, catalog = with_installation(partial(_named, name=name))
    if json:
        print_json({"id": recipe.key, "title": recipe.title, "spec": recipe.spec})
        return
    console.print(f"[bold]{escape(recipe.title)}[/]\n{escape(recipe.description)}\n")
    console.print(draw(recipe.flow(), catalog), markup=False)
    console.print()
    console.print(recipe.spec, markup=False)


@app.command()
@on_installation
async def use(installation: Installation, name: Name, json: JsonFlag = False) -> None:
    """Create a flow from a template, and publish the flows that its steps run. Nothing is run."""
    async with installation.database.writing() as session:
        recipe = await recipe_named(session, name)
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


async def _all(installation: Installation) -> tuple[Sequence[Recipe], Catalog]:
    async with installation.database.reading() as session:
        return await all_recipes(session), await with_packs(session, installation.registry)


async def _named(installation: Installation, name: str) -> tuple[Recipe, Catalog]:
    async with installation.database.reading() as session:
        return await recipe_named(session, name), await with_packs(session, installation.registry)


def _as_json(recipe: Recipe, catalog: Catalog) -> dict[str, object]:
    return {
        "id": recipe.key,
        "title": recipe.title,
        "description": recipe.description,
        "category": recipe.category,
        "needs_model": recipe.needs_model,
        "needs_network": recipe.needs_network,
        "needs_flows": list(recipe.needs_flows),
        "needs_connections": [each.model_dump() for each in recipe.needs_connections(catalog)],
        "triggers": [trigger.name for trigger in recipe.triggers],
    }


def _needs(recipe: Recipe, catalog: Catalog) -> str:
    needs = [
        name for name, required in (("a model", recipe.needs_model), ("network", recipe.needs_network)) if required
    ]
    needs += [f"connection {each.name}" for each in recipe.needs_connections(catalog)]
    return listed(needs) or "runs as it is"


def _search(recipes: Sequence[Recipe], query: str) -> list[Recipe]:
    if not query:
        return list(recipes)
    by_key = {recipe.key: recipe for recipe in recipes}
    return [by_key[match.key] for match in recipe_index(tuple(recipes)).search(query)]
