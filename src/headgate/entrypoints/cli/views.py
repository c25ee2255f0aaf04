"""`headgate views`: saved views of lists."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, print_result, print_rows
from headgate.entrypoints.cli.session import acting, with_reading, with_writing
from headgate.features.accounts.saved_views import service
from headgate.features.accounts.saved_views.schemas import Place, SavedView, SavedViewIn, ViewSettings
from headgate.foundation.errors import Invalid

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Saved views of the attention list and of runs.")
PlaceArgument = Annotated[Place, typer.Argument(help="The list: `attention` or `runs`.")]


@app.command("list")
def list_(place: PlaceArgument, json: JsonFlag = False) -> None:
    """List your saved views of a list."""
    views = with_reading(lambda session, _: service.list_views(session, acting(), place))
    rows = [(view.id, escape(view.name), escape(_filters(view)), ", ".join(view.settings.columns)) for view in views]
    print_rows(views, ("id", "name", "filters", "columns"), rows, json=json, none="No saved views.")


@app.command()
def save(
    place: PlaceArgument,
    name: Annotated[str, typer.Argument(help="Name of the view; the one of this name is replaced.")],
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="A query parameter of the list, as NAME=VALUE; may be repeated."),
    ] = None,
    columns: Annotated[list[str] | None, typer.Option("--column", help="A column; may be repeated.")] = None,
    json: JsonFlag = False,
) -> None:
    """Save a view of a list, for `list --view NAME`."""
    settings = ViewSettings(filters=_parsed(filters or []), columns=columns or [])
    view_in = SavedViewIn(place=place, name=name, settings=settings)
    view = with_writing(lambda session, _: service.save_view(session, acting(), view_in))
    print_result(view, f"Saved: {escape(view.name)}", json=json)


@app.command()
def delete(
    view_id: Annotated[str, typer.Argument(help="Id of the view, as `list` prints it.")], json: JsonFlag = False
) -> None:
    """Delete one of your saved views."""
    with_writing(lambda session, _: service.delete_view(session, acting(), view_id))
    print_result({"id": view_id}, "Deleted.", json=json)


def _parsed(filters: list[str]) -> dict[str, str | list[str]]:
    """Return filters by name; one that is given several times is a list."""
    values: dict[str, list[str]] = {}
    for entry in filters:
        name, equals, value = entry.partition("=")
        if not equals:
            raise Invalid(f"'{entry}' is no filter.", remedy="Write it as NAME=VALUE, such as kind=failed_runs.")
        values.setdefault(name, []).append(value)
    return {name: entries if len(entries) > 1 else entries[0] for name, entries in values.items()}


def _filters(view: SavedView) -> str:
    return ", ".join(f"{name}={value}" for name, value in view.settings.filters.items())
