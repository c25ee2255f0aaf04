"""`headgate models classes`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.foundation.errors import Invalid

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Security classes: which class of data each model may be given."
)
ModelArgument = Annotated[str, typer.Argument(help="provider/name, or provider/* for a provider's others.")]


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """Show the classes there are, and the class of each model that has one of its own."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            classes = await installation.classes.show(session, acting())
        if json:
            print_json(classes)
            return
        if not classes.enabled:
            console.print("Classes are not checked: HEADGATE_CLASSIFICATION__ENABLED is off.")
        rows = [(number, escape(name)) for number, name in enumerate(classes.levels)]
        console.print(table(("class", "name"), rows))
        console.print(
            f"[dim]May leave: up to {escape(classes.levels[classes.external_max])}. "
            f"A model without a class: {escape(classes.levels[classes.default_level])}.[/]"
        )
        if classes.items:
            cells = [
                (f"{assignment.provider}/{assignment.name}", escape(assignment.class_name))
                for assignment in classes.items
            ]
            console.print(table(("model", "class"), cells))

    with_installation(work)


@app.command("set")
def set_(
    model: ModelArgument,
    level: Annotated[str, typer.Argument(help="Number or name of a class, for example 2 or K2.")],
    json: JsonFlag = False,
) -> None:
    """Say which class of data a model may be given, at most."""
    provider, name = _parts_of(model)

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            assignment = await installation.classes.put(session, acting(), provider=provider, name=name, level=level)
        if json:
            print_json(assignment)
        else:
            console.print(
                f"{assignment.provider}/{escape(assignment.name)} may be given {escape(assignment.class_name)}."
            )

    with_installation(work)


@app.command()
def remove(model: ModelArgument, json: JsonFlag = False) -> None:
    """Take the class of a model away; it then has its provider's, or the default."""
    provider, name = _parts_of(model)

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            await installation.classes.remove(session, acting(), provider=provider, name=name)
        if json:
            print_json({"removed": model})
        else:
            console.print(f"{escape(model)} has no class of its own any more.")

    with_installation(work)


def _parts_of(model: str) -> tuple[str, str]:
    provider, slash, name = model.partition("/")
    if not slash or not provider or not name:
        raise Invalid(f"'{model}' is not a model.", remedy="Write provider/name, or provider/* for the others.")
    return provider, name
