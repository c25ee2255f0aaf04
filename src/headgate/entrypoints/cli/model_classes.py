"""`headgate models classes`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table
from headgate.entrypoints.cli.session import acting, with_reading, with_writing
from headgate.foundation.errors import Invalid

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Model classification: the most sensitive data that each model may receive.",
)
ModelArgument = Annotated[str, typer.Argument(help="provider/name, or provider/* for all other models of a provider.")]


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """Show the classification levels, and the models that have their own."""
    classes = with_reading(lambda session, installation: installation.classes.show(session, acting()))
    if json:
        print_json(classes)
        return
    if not classes.enabled:
        console.print("Classification is turned off (HEADGATE_CLASSIFICATION__ENABLED).")
    rows = [(number, escape(name)) for number, name in enumerate(classes.levels)]
    console.print(table(("class", "name"), rows))
    console.print(
        f"[dim]May leave: up to {escape(classes.levels[classes.external_max])}. "
        f"Models without a classification: {escape(classes.levels[classes.default_level])}.[/]"
    )
    if classes.items:
        cells = [
            (f"{assignment.provider}/{assignment.name}", escape(assignment.class_name)) for assignment in classes.items
        ]
        console.print(table(("model", "class"), cells))


@app.command("set")
def set_(
    model: ModelArgument,
    level: Annotated[str, typer.Argument(help="Number or name of a level, such as 2 or K2.")],
    json: JsonFlag = False,
) -> None:
    """Set the highest classification of data that a model may receive."""
    provider, name = _parts_of(model)

    assignment = with_writing(
        lambda session, installation: installation.classes.put(
            session, acting(), provider=provider, name=name, level=level
        )
    )
    print_result(
        assignment,
        f"{assignment.provider}/{escape(assignment.name)} may be given {escape(assignment.class_name)}.",
        json=json,
    )


@app.command()
def remove(model: ModelArgument, json: JsonFlag = False) -> None:
    """Remove the classification of a model; it then uses that of its provider or the default."""
    provider, name = _parts_of(model)

    with_writing(
        lambda session, installation: installation.classes.remove(session, acting(), provider=provider, name=name)
    )
    print_result({"removed": model}, f"{escape(model)} no longer has its own classification.", json=json)


def _parts_of(model: str) -> tuple[str, str]:
    provider, slash, name = model.partition("/")
    if not slash or not provider or not name:
        raise Invalid(f"'{model}' is not a model.", remedy="Use provider/name, or provider/* for all others.")
    return provider, name
