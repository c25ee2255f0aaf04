"""`headgate models roles` and `headgate models describe`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table
from headgate.entrypoints.cli.session import acting, on_installation, with_writing
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
    help="Models for the default, the assistant, the development agent, steps and the fallback chain.",
)


@app.command("list")
@on_installation
async def list_(installation: Installation, json: JsonFlag = False) -> None:
    """Show the model of each role, where it was configured, and whether it is ready."""
    survey = await readiness.survey(installation.keys_of(acting(), "models"), local=installation.local_models)
    if json:
        print_json([role.model_dump(mode="json") for role in survey.roles])
        return
    rows = [
        (role.role, escape(role.model or "none"), role.source.replace("_", " "), "yes" if role.ready else "no")
        for role in survey.roles
    ]
    console.print(table(("role", "model", "chosen by", "ready"), rows))
    for role in survey.roles:
        if not role.ready:
            console.print(f"\n[bold]{role.role}[/] {escape(role.problem)}\n  {escape(role.remedy)}")


@app.command("set")
def set_(
    role: Annotated[ModelRole, typer.Argument(help="The role.")],
    models: Annotated[list[str], typer.Argument(help="provider/name; several for fallback, in order.")],
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="NAME=VALUE, such as timeout_seconds=300 or temperature=0.2."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Set the model of a role. Overrides the environment variable."""
    params = dict(_pair(pair) for pair in param or [])
    choice = RoleIn(models=[RoleModelIn(model=model, params=params) for model in models])

    with_writing(
        lambda session, installation: service.put_role(
            session, acting(), installation.keys_of(acting(), "models"), role=role, choice=choice
        )
    )
    print_result({"role": role, "models": models, "params": params}, f"{role}: {escape(', '.join(models))}", json=json)


@app.command()
def remove(role: Annotated[ModelRole, typer.Argument(help="The role.")], json: JsonFlag = False) -> None:
    """Reset the model of a role to the environment variable or the inherited role."""
    with_writing(lambda session, _: service.delete_role(session, acting(), role=role))
    print_result({"removed": role}, f"{role} uses the default again.", json=json)


def _pair(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise BadModelSettings("A parameter must be NAME=VALUE.", remedy="For example: --param timeout_seconds=300")
    try:
        return name.strip(), parse_json(value)
    except ValueError:
        return name.strip(), value
