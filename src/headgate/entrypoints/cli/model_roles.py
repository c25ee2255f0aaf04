"""`headgate models roles` and `headgate models describe`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.models import readiness
from headgate.features.models.errors import BadModelSettings
from headgate.features.models.setup import service
from headgate.features.models.setup.schemas import RoleIn, RoleModelIn
from headgate.features.models.setup.values import ModelRole
from headgate.graph.json_values import parse_json

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="The default model, those of the assistant, the development agent and steps, and the fallback chain.",
)


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """Show which model has which role, where it was chosen, and whether it is ready."""

    async def work(installation: Installation) -> None:
        survey = await readiness.survey(installation.keys_of(acting(), "models"), local=installation.local_models)
        if json:
            print_json([one.model_dump(mode="json") for one in survey.roles])
            return
        rows = [
            (one.role, escape(one.model or "none"), one.source.replace("_", " "), "yes" if one.ready else "no")
            for one in survey.roles
        ]
        console.print(table(("role", "model", "chosen by", "ready"), rows))
        for one in survey.roles:
            if not one.ready:
                console.print(f"\n[bold]{one.role}[/] {escape(one.problem)}\n  {escape(one.remedy)}")

    with_installation(work)


@app.command("set")
def set_(
    role: Annotated[ModelRole, typer.Argument(help="The role.")],
    models: Annotated[list[str], typer.Argument(help="provider/name; for fallback several, in their order.")],
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="NAME=VALUE, such as timeout_seconds=300 or temperature=0.2."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Choose the model of a role. It comes before a variable of the environment."""
    params = dict(_pair(one) for one in param or [])
    wanted = RoleIn(models=[RoleModelIn(model=one, params=params) for one in models])

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            await service.put_role(
                session, acting(), installation.keys_of(acting(), "models"), role=role, wanted=wanted
            )
        if json:
            print_json({"role": role, "models": models, "params": params})
        else:
            console.print(f"{role}: {escape(', '.join(models))}")

    with_installation(work)


@app.command()
def remove(role: Annotated[ModelRole, typer.Argument(help="The role.")], json: JsonFlag = False) -> None:
    """Remove the choice; the variable of the environment applies again, or the role it inherits from."""

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            await service.delete_role(session, acting(), role=role)
        if json:
            print_json({"removed": role})
        else:
            console.print(f"{role} has no choice of its own any more.")

    with_installation(work)


def _pair(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise BadModelSettings("A parameter is written NAME=VALUE.", remedy="For example: --param timeout_seconds=300")
    try:
        return name.strip(), parse_json(value)
    except ValueError:
        return name.strip(), value
