"""`headgate models servers`."""

from typing import Annotated

import typer
from pydantic import SecretStr
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import OK, UNAVAILABLE
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows
from headgate.entrypoints.cli.session import acting, on_installation, with_parts, with_writing
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.models.errors import BadModelServer
from headgate.features.models.listing import check_address
from headgate.features.models.setup import service
from headgate.features.models.setup.presets import PRESETS
from headgate.features.models.setup.schemas import ModelServerIn, ModelServerOut, ServerTestOut
from headgate.features.models.setup.testing import try_server
from headgate.graph.json_values import parse_json
from headgate.graph.secret_reference import EXAMPLE, SecretReference

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Model servers that you run or rent: vLLM, LM Studio, LiteLLM, OpenRouter, llama.cpp, Ollama.",
)
Name = Annotated[str, typer.Argument(help="Name of the server; its models are NAME/model.")]
Everywhere = Annotated[bool, typer.Option("--organisation", help="Store it for all spaces of the organisation.")]


@app.command()
@on_installation
async def add(
    installation: Installation,
    name: Name,
    address: Annotated[str, typer.Argument(help="Its URL. Default: the URL of --preset.")] = "",
    preset: Annotated[
        str, typer.Option("--preset", "-p", help=f"Server type: {', '.join(choice.id for choice in PRESETS)}.")
    ] = "",
    key: Annotated[str, typer.Option("--key", help=f"Its API key, or a reference to a variable: '{EXAMPLE}'.")] = "",
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", help="'Name: value'. The value is text or a secret, as for --key. Repeatable."),
    ] = None,
    organisation: Everywhere = False,
    json: JsonFlag = False,
) -> None:
    """Add a model server, or change the one with that name."""
    kind = next((known for known in PRESETS if known.id == preset), None)
    if (preset and kind is None) or not (address or kind):
        raise BadModelServer(
            f"Unknown server type '{preset}'." if preset else "A model server needs a URL.",
            remedy=f"Pass a URL, or --preset with one of: {', '.join(known.id for known in PRESETS)}.",
        )
    server = ModelServerIn(
        kind=kind.kind if kind is not None else "openai",
        address=address or (kind.address if kind is not None else ""),
        key=_value(key),
        headers=dict(_header(pair) for pair in header or []),
    )
    await check_address(server.address, installation.keys_of(acting(), "models").open_networks)
    async with installation.database.writing() as session:
        row = await service.put_server(
            session, acting(), installation.box, name=name, server=server, organisation=organisation
        )
        stored = ModelServerOut.model_validate(row)
    print_result(
        stored, f"Connected {name} at {escape(stored.address)}. Test it: headgate models servers test {name}", json=json
    )


@app.command("list")
@on_installation
async def list_(installation: Installation, json: JsonFlag = False) -> None:
    """List the model servers of your space and the organisation."""
    async with installation.database.reading() as session:
        rows = [ModelServerOut.model_validate(row) for row in await service.list_servers(session, acting())]
    print_rows(
        rows,
        ("name", "protocol", "address", "secrets", "space"),
        [
            (row.name, row.kind, escape(row.address), ", ".join(row.secret_names), row.space_id or "organisation")
            for row in rows
        ],
        json=json,
        none="No model servers yet. Add one: [bold]headgate models servers add NAME ADDRESS[/]",
    )


@app.command("test")
def try_(
    name: Name,
    model: Annotated[str | None, typer.Option("--model", help="Model to test. Default: the first.")] = None,
    json: JsonFlag = False,
) -> int:
    """Test a server: list its models and request a short completion. Exit code 5 if it does not respond."""

    async def work(parts: Parts) -> ServerTestOut:
        return await try_server(
            parts.keys_of(acting(), "test"), web=parts.services.web, name=name, model=model, local=parts.local_models
        )

    result = with_parts(work)
    if json:
        print_json(result.model_dump(mode="json"))
    elif result.ok:
        names = escape(", ".join(result.models[:8]))
        console.print(f"[green]✓[/] {len(result.models)} models in {result.list_ms} ms: {names}")
        console.print(f"[green]✓[/] {escape(str(result.model))} answered in {result.answer_ms} ms.")
    else:
        console.print(f"[red]✗[/] {escape(result.detail)}\n  {escape(result.remedy)}")
    return OK if result.ok else UNAVAILABLE


@app.command()
def remove(name: Name, organisation: Everywhere = False, json: JsonFlag = False) -> None:
    """Remove a server. Steps that use its models stop working."""
    with_writing(lambda session, _: service.delete_server(session, acting(), name=name, organisation=organisation))
    print_result({"removed": name}, f"Removed {escape(name)}.", json=json)


def _header(text: str) -> tuple[str, SecretStr | SecretReference]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise BadModelServer("A header must be 'Name: value'.")
    return name.strip(), _value(value.strip())


def _value(text: str) -> SecretStr | SecretReference:
    """A value as it was typed: text, or a secret."""
    if text.startswith("{"):
        try:
            return SecretReference.parse(parse_json(text))
        except ValueError as error:
            raise BadModelServer(f"A secret {error}.") from None
    return SecretStr(text)
