"""`headgate connections`."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, get_args

import typer
from pydantic import JsonValue, SecretStr
from rich.prompt import Prompt

from headgate.entrypoints.cli.api_documents import document_in, show_changes
from headgate.entrypoints.cli.connection_contents import Name, operations, tables
from headgate.entrypoints.cli.connection_files import files
from headgate.entrypoints.cli.connection_options import Fields, MaxConcurrent, Outside
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, table, when
from headgate.entrypoints.cli.session import acting, on_installation, on_parts, with_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.connections import service
from headgate.features.connections.apis import service as apis
from headgate.features.connections.apis.schemas import ApiDocumentIn
from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.errors import BadConnection
from headgate.features.connections.kinds import Kind
from headgate.features.connections.presets import OfferedKind, offered_kind, offered_kinds
from headgate.features.connections.routes import CALLBACK
from headgate.features.connections.schemas import SpaceConnectionIn, SpaceConnectionOut, SpaceConnectionPatch
from headgate.features.connections.sealed import OutsideValue, Source
from headgate.features.connections.values import kind_named
from headgate.features.flows.connection_uses import list_uses
from headgate.foundation.checked import checked
from headgate.graph.json_values import parse_json
from headgate.graph.names import clipped

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Connections of flows: add, describe, authorize, test and delete."
)


@app.command()
def kinds(json: JsonFlag = False) -> None:
    """List the kinds of connections with their fields; secret fields are marked with *."""

    async def work(installation: Installation) -> list[OfferedKind]:
        async with installation.database.reading() as session:
            return await offered_kinds(session)

    offered = with_installation(work)
    values, rows = [], []
    for id_, kind in ((each.id, each.kind) for each in offered):
        names = [field.name for field in kind.fields]
        values.append({"id": id_, "label": kind.label, "fields": names, "secrets": list(kind.secret_names)})
        rows.append((id_, kind.label, ", ".join(f"{name}{'*' * (name in kind.secret_names)}" for name in names)))
    print_rows(values, ("kind", "what it is", "fields"), rows, json=json)


@app.command()
def add(
    name: Name,
    document: Annotated[
        str, typer.Argument(help="File or address of a description of its API, such as OpenAPI; - reads it from stdin.")
    ] = "",
    kind: Annotated[
        str, typer.Option("--kind", "-k", help="Kind; `headgate connections kinds` lists them. A description has one.")
    ] = "",
    field: Fields = None,
    outside: Outside = None,
    personal: Annotated[bool, typer.Option("--personal", help="Only runs that you start may use it.")] = False,
    expires: Annotated[datetime | None, typer.Option("--expires", help="When its secret stops working.")] = None,
    max_concurrent: MaxConcurrent = None,
    json: JsonFlag = False,
) -> None:
    """Add a connection. Secrets are prompted for or read from standard input as JSON; they are never arguments."""
    references = _references(outside or [])

    def body(chosen: Kind, suggested: Mapping[str, JsonValue]) -> SpaceConnectionIn:
        return checked(
            SpaceConnectionIn,
            name=name,
            kind=kind or chosen.id,
            fields={**suggested, **_fields(chosen, field or [])},
            secrets={**references, **_secrets(chosen, set(references))},
            personal=personal,
            max_concurrent=max_concurrent or None,
            expires_at=None if expires is None else expires.astimezone(),
        )

    def show(stored: SpaceConnectionOut, operations: int) -> None:
        if json:
            print_json(stored.model_dump(mode="json") | ({"operations": operations} if document else {}))
            return
        following = f"headgate connections {'authorize' if KINDS[stored.kind].grant else 'test'} {name}"
        described = f" with {operations} operations" if document else ""
        console.print(f"Added {name}{described}. Next: [bold]{following}[/]")

    if document:
        written = document_in(document)
        with_parts(partial(_add_described, written=written, kind=kind, body=body, show=show))
        return
    chosen = with_installation(partial(_offered, kind=kind)) if "." in kind else kind_named(kind)
    connection_in = body(chosen, {})

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            row = await service.add_connection(session, acting(), installation.box, connection_in=connection_in)
            show(SpaceConnectionOut.model_validate(row), 0)

    with_installation(work)


async def _offered(installation: Installation, kind: str) -> Kind:
    async with installation.database.reading() as session:
        return await offered_kind(session, kind)


async def _add_described(
    parts: Parts,
    *,
    written: ApiDocumentIn,
    kind: str,
    body: Callable[[Kind, Mapping[str, JsonValue]], SpaceConnectionIn],
    show: Callable[[SpaceConnectionOut, int], None],
) -> None:
    """Add a connection with a description of its API, which names its kind and its address."""
    manager = parts.connections
    suggestion = await manager.apis.suggest(acting(), written)
    chosen = await _offered(parts, kind or suggestion.kind)
    suggested = {name: value for name, value in suggestion.fields.items() if chosen.field(name) is not None}
    async with manager.connections.database.writing() as session:
        row = await service.add_connection(
            session, acting(), manager.connections.box, connection_in=body(chosen, suggested)
        )
        stored = SpaceConnectionOut.model_validate(row)
    changes = await manager.apis.describe(acting(), stored.id, written)
    show(stored, changes.api.operations)


@app.command("list")
@on_installation
async def list_(installation: Installation, json: JsonFlag = False) -> None:
    """List the connections of your spaces and your own ones. Secrets are never shown."""
    async with installation.database.reading() as session:
        rows = [SpaceConnectionOut.model_validate(row) for row in await service.list_connections(session, acting())]
    if json:
        print_json([row.model_dump(mode="json") for row in rows])
    elif not rows:
        console.print("No connections yet. Add one: [bold]headgate connections add NAME --kind KIND[/]")
    else:
        console.print(table(("name", "kind", "hosts", "state", "last used"), [_cells(row) for row in rows]))


@app.command()
@on_installation
async def show(installation: Installation, name: Name, json: JsonFlag = False) -> None:
    """Show a connection and the flows that name it. Secrets are never shown."""
    async with installation.database.reading() as session:
        row = SpaceConnectionOut.model_validate(await service.get_connection(session, acting(), name))
        uses = await list_uses(session, acting(), installation.registry, row.id)
    if json:
        print_json(row.model_dump(mode="json") | {"flows": [use.model_dump(mode="json") for use in uses]})
        return
    for label, value in (
        ("name", row.name),
        ("kind", KINDS[row.kind].label),
        ("owner", "you" if row.owner_id else "the space"),
        ("hosts", ", ".join(row.hosts) or "none"),
        ("secrets", ", ".join(row.secret_names) or "none"),
        ("state", row.status),
        ("problem", row.error_message or "none"),
        ("last used", when(row.last_used_at) if row.last_used_at else "never"),
        ("expires", when(row.expires_at) if row.expires_at else "never"),
        ("flows", ", ".join(use.flow for use in uses) or "none"),
    ):
        console.print(f"{label:12} {value}", markup=False)


@app.command()
@on_installation
async def change(
    installation: Installation,
    name: Name,
    field: Fields = None,
    secret: Annotated[bool, typer.Option("--secret", help="Ask for new secrets.")] = False,
    max_concurrent: MaxConcurrent = None,
    json: JsonFlag = False,
) -> None:
    """Change fields, secrets or the limit of a connection. New hosts need its secrets again."""
    async with installation.database.reading() as session:
        row = SpaceConnectionOut.model_validate(await service.get_connection(session, acting(), name, manage=True))
    kind = kind_named(row.kind)
    fields = {**row.fields, **_fields(kind, field or [])} if field else None
    limit = {} if max_concurrent is None else {"max_concurrent": max_concurrent or None}
    secrets = dict(_secrets(kind, set())) if secret else None
    patch = checked(SpaceConnectionPatch, fields=fields, secrets=secrets, **limit)
    async with installation.database.writing() as session:
        changed = await service.update_connection(session, acting(), installation.box, row.id, patch=patch)
        stored = SpaceConnectionOut.model_validate(changed)
    if json:
        print_json(stored.model_dump(mode="json"))
    else:
        console.print(f"Changed {name}.")


@app.command("test")
@on_parts
async def try_(parts: Parts, name: Name, json: JsonFlag = False) -> None:
    """Make the test call of a connection."""
    outcome = await parts.connections.test(acting(), name)
    if json:
        print_json(outcome.model_dump(mode="json"))
    else:
        console.print(f"{outcome.message} {outcome.remedy}".strip(), markup=False)
    if not outcome.ok:
        raise typer.Exit(1)


@app.command()
@on_parts
async def authorize(parts: Parts, name: Name, json: JsonFlag = False) -> None:
    """Authorize a connection with OAuth: prints where to sign in, or the code to enter, and waits for the latter."""
    row = await parts.connections.find(acting(), name)
    server = parts.settings.server
    base = server.public_url or f"http://127.0.0.1:{server.port}"
    started = await parts.connections.authorizations.start(acting(), row, f"{base}{CALLBACK}")
    if json:
        print_json(started.model_dump(mode="json"))
        return
    if started.state == "redirect":
        console.print("Open this URL in a browser that is signed in to Headgate:")
        console.print(started.url, markup=False, soft_wrap=True)
        return
    if started.state == "device":
        console.print(f"Enter {started.user_code} at {started.url}", markup=False)
        interval = started.interval
        while True:
            await asyncio.sleep(interval)
            answer = await parts.connections.authorizations.poll(acting(), row, started.authorization)
            interval += 5 if answer.slower else 0
            if answer.state == "ready":
                break
    console.print(f"Authorized {name}.")


app.command("files")(files)


@app.command()
def describe(
    name: Name,
    document: Annotated[str, typer.Argument(help="File or address; - reads it from stdin.")],
    json: JsonFlag = False,
) -> None:
    """Read a description of the connection's API, such as OpenAPI: its operations become available to steps."""
    written = document_in(document)

    async def work(parts: Parts) -> None:
        outcome = await parts.connections.apis.describe(acting(), name, written)
        async with parts.database.reading() as session:
            uses = await list_uses(session, acting(), parts.registry, name)
        affected = [use for use in uses if use.affected]
        if json:
            flows = [use.model_dump(mode="json") for use in affected]
            print_json(outcome.model_dump(mode="json") | {"affected_flows": flows})
            return
        show_changes(name, outcome)
        for use in affected:
            console.print(f"{use.flow} calls {', '.join(use.affected)}", markup=False)

    with_parts(work)


app.command()(operations)
app.command()(tables)


@app.command()
@on_installation
async def accept(
    installation: Installation,
    name: Name,
    operation: Annotated[list[str] | None, typer.Argument(help="Operations; all changed ones without.")] = None,
    json: JsonFlag = False,
) -> None:
    """Accept operations whose description changed, so that agents get them again."""
    async with installation.database.writing() as session:
        keys = await apis.accept_operations(session, acting(), name, keys=operation or [], sha256="")
    if json:
        print_json(list(keys))
    else:
        console.print("\n".join(["Accepted:", *keys]) if keys else "No operation changed.", markup=False)


@app.command()
@on_parts
async def delete(parts: Parts, name: Name, json: JsonFlag = False) -> None:
    """Revoke the tokens of a connection at its provider, and delete it."""
    await parts.connections.delete(acting(), name)
    if json:
        print_json({"deleted": name})
    else:
        console.print(f"Deleted {name}.")


def _cells(row: SpaceConnectionOut) -> tuple[str, str, str, str, str]:
    state = f"{row.status}, yours" if row.owner_id else row.status
    used = when(row.last_used_at) if row.last_used_at else "never"
    return row.name, row.kind, clipped(", ".join(row.hosts), 50), state, used


def _fields(kind: Kind, written: list[str]) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {}
    for pair in written:
        name, sign, value = pair.partition("=")
        if not sign:
            raise BadConnection(f"{clipped(name, 40)!r} has no '=' between name and value.")
        declared = kind.field(name)
        typed: JsonValue = value
        if declared is not None and declared.type == "hosts":
            typed = [host.strip() for host in value.split(",") if host.strip()]
        elif declared is not None and declared.type == "number":
            typed = int(value) if value.isdigit() else value
        elif declared is not None and declared.type == "boolean":
            typed = {"true": True, "false": False}.get(value.lower(), value)
        fields[name] = typed
    return fields


def _references(written: list[str]) -> dict[str, OutsideValue]:
    references: dict[str, OutsideValue] = {}
    for pair in written:
        name, _, reference = pair.partition("=")
        source, separator, rest = reference.partition(":")
        path, _, key = rest.partition("#")
        if not separator or source not in get_args(Source) or not path:
            raise BadConnection(
                f"{clipped(pair, 60)!r} is not a reference to a secret.",
                remedy="Write it as token=vault:team/crm#token.",
            )
        references[name] = OutsideValue.model_validate({"from": source, "path": path, "key": key})
    return references


def _secrets(kind: Kind, given: set[str]) -> dict[str, SecretStr]:
    """Return the secrets that the user enters, or that standard input has as a JSON object."""
    fields = [field for field in kind.fields if field.is_secret and field.name not in given]
    if not fields:
        return {}
    if sys.stdin.isatty():
        entered = {field.name: Prompt.ask(field.label, password=True, console=console) for field in fields}
    else:
        content = sys.stdin.read().strip()
        if len(fields) == 1 and content and not content.startswith("{"):
            entered = {fields[0].name: content}
        else:
            document = parse_json(content) if content else {}
            entered = {str(name): str(value) for name, value in document.items()} if isinstance(document, dict) else {}
    return {name: SecretStr(value) for name, value in entered.items() if value}
