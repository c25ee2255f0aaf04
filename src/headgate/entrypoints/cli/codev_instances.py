"""`headgate codev instances`: Flowise servers that sessions may work on."""

import sys
from typing import Annotated

import typer
from pydantic import SecretStr
from rich.markup import escape
from rich.prompt import Prompt

from headgate.agents.codev.instances.schemas import FlowiseInstanceIn
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table
from headgate.entrypoints.cli.session import acting, on_parts, with_parts
from headgate.entrypoints.compose import Parts
from headgate.foundation.checked import checked

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Flowise servers that sessions may work on.")
Name = Annotated[str, typer.Argument(help="Name of the server.")]


@app.command("list")
@on_parts
async def list_(parts: Parts, json: JsonFlag = False) -> None:
    """List the servers, those of the operator first. Keys are never shown."""
    instances = await parts.flowise.instances.list(acting())
    if json:
        print_json(instances)
    elif not instances:
        console.print("No Flowise servers yet. Add one: headgate codev instances add NAME URL", markup=False)
    else:
        rows = [
            (escape(instance.id), escape(instance.endpoint), instance.source, "yes" if instance.has_key else "no")
            for instance in instances
        ]
        console.print(table(("name", "where", "added by", "key"), rows))


@app.command()
def add(
    name: Name,
    url: Annotated[str, typer.Argument(help="Its URL, such as https://flowise.example.org.")],
    key_variable: Annotated[str, typer.Option(help="Variable that contains its key, instead of entering one.")] = "",
    json: JsonFlag = False,
) -> None:
    """Add a server. Its key is prompted for or read from standard input; it is never an argument."""
    key = ""
    if not key_variable:
        key = _typed(name) if sys.stdin.isatty() else sys.stdin.read().strip()
    instance = checked(
        FlowiseInstanceIn, id=name, endpoint=url, key_variable=key_variable, api_key=SecretStr(key) if key else None
    )

    async def work(parts: Parts) -> None:
        async with parts.database.writing() as session:
            made = await parts.flowise.instances.add(session, acting(), instance)
        print_result(
            made, f"Added {escape(made.id)}. Try it: headgate codev instances test {escape(made.id)}", json=json
        )

    with_parts(work)


@app.command()
@on_parts
async def remove(parts: Parts, name: Name, json: JsonFlag = False) -> None:
    """Remove a server and its stored key."""
    async with parts.database.writing() as session:
        await parts.flowise.instances.remove(session, acting(), name)
    print_json({"id": name, "removed": True}) if json else console.print(f"Removed {escape(name)}.")


@app.command("test")
@on_parts
async def try_(parts: Parts, name: Name, json: JsonFlag = False) -> None:
    """Test the connection to a server and count its components."""
    probe = await parts.flowise.probe(await parts.flowise.instances.find(acting(), name))
    print_result(
        probe, f"Flowise {escape(probe.version)} with {probe.nodes} components, in {probe.ms:.0f} ms.", json=json
    )


def _typed(name: str) -> str:
    words = f"Key of {escape(name)} (Enter: none)"
    return Prompt.ask(words, password=True, default="", show_default=False, console=console)
