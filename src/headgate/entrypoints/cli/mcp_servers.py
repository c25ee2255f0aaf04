"""`headgate mcp-servers`."""

import sys
from typing import Annotated

import typer
from pydantic import SecretStr, ValidationError
from rich.prompt import Prompt

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, on_installation, on_parts, with_parts, with_writing
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.connections.routes import CALLBACK
from headgate.features.mcptools import service
from headgate.features.mcptools.authorizing import ServerAuthorizations
from headgate.features.mcptools.connector import McpConnector
from headgate.features.mcptools.errors import BadMcpServer
from headgate.features.mcptools.programs import ProgramAccess, ProgramRules
from headgate.features.mcptools.sampling import Sampling
from headgate.features.mcptools.schemas import (
    McpAuthorization,
    McpServerIn,
    McpServerOut,
    McpServerPatch,
    McpToolOut,
    Secrets,
)
from headgate.foundation.errors import HeadgateError
from headgate.graph.json_values import parse_json
from headgate.graph.names import clipped
from headgate.graph.secret_reference import EXAMPLE, SecretReference

app = typer.Typer(add_completion=False, no_args_is_help=True, help="MCP servers: add, refresh, enable and disable.")
Name = Annotated[str, typer.Argument(help="Name of the server.")]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        "-H",
        help='\'Name: value\'. The value is text or a secret: \'{"secret": "WEATHER_TOKEN", "scheme": "Bearer"}\'.',
    ),
]
Env = Annotated[
    list[str] | None, typer.Option("--env", "-e", help="NAME=VALUE for a program. The value is text or a secret.")
]
Hosts = Annotated[
    list[str] | None, typer.Option("--host", help="A host that the program may connect to: '*.example.org:8443'.")
]
ReadFolders = Annotated[list[str] | None, typer.Option("--read", help="A folder that the program may read.")]
WriteFolders = Annotated[list[str] | None, typer.Option("--write", help="A folder that the program may change.")]


@app.command()
def add(
    name: Name,
    url: Annotated[str, typer.Argument(help="URL of the server; omit for a program.")] = "",
    header: Headers = None,
    command: Annotated[
        list[str] | None, typer.Option("--command", "-c", help="A program; repeat the option for each argument.")
    ] = None,
    env: Env = None,
    host: Hosts = None,
    read: ReadFolders = None,
    write: WriteFolders = None,
    connection: Annotated[
        str, typer.Option("--connection", help="Connection whose credential is sent, such as one with OAuth.")
    ] = "",
    json: JsonFlag = False,
) -> None:
    """Add a server and load its tools. Programs require HEADGATE_MCP__ALLOW_STDIO=true."""
    server = McpServerIn(
        name=name,
        transport="stdio" if command else "http",
        url=url,
        command=command or [],
        headers=_pairs(header or [], ":"),
        env=_pairs(env or [], "="),
        access=_access(host, read, write),
        connection=connection,
    )

    async def work(parts: Parts) -> None:
        async with parts.database.writing() as session:
            row = await service.create_server(session, acting(), parts.box, parts.mcp.programs, server_in=server)
            stored = McpServerOut.model_validate(row)
        if not json:
            console.print(f"Registered {name}.")
        try:
            await _refresh(parts.mcp, name, as_json=json)
        except HeadgateError as error:
            print_result(
                stored.model_dump(mode="json") | {"error_message": str(error)},
                f"Its tools could not be loaded: {error}",
                json=json,
                markup=False,
            )

    with_parts(work)


@app.command("list")
@on_installation
async def list_(installation: Installation, json: JsonFlag = False) -> None:
    """List the servers of your space."""
    async with installation.database.reading() as session:
        rows = [McpServerOut.model_validate(row) for row in await service.list_servers(session, acting())]
    print_rows(
        rows,
        ("name", "where", "state", "tools found"),
        [_cells(row) for row in rows],
        json=json,
        none="No MCP servers yet. Add one: [bold]headgate mcp-servers add NAME URL[/]",
    )


@app.command()
@on_parts
async def search(
    parts: Parts, text: Annotated[str, typer.Argument(help="Part of the name.")] = "", json: JsonFlag = False
) -> None:
    """Search the operator's registry for servers (HEADGATE_MCP__REGISTRY_URL)."""
    result = await parts.mcp_registry.search(text)
    if json:
        print_json(result.model_dump(mode="json"))
        return
    if not result.configured:
        console.print("No registry is configured here: the operator sets HEADGATE_MCP__REGISTRY_URL.")
        return
    print_rows(
        result.items,
        ("server", "version", "URL", "description"),
        [(server.name, server.version, server.url, clipped(server.description, 80)) for server in result.items],
        json=False,
        none="The registry has no such server with a URL.",
    )
    if result.omitted:
        console.print(f"{result.omitted} more have no URL that can be used, such as programs.")
    if result.more:
        console.print("The registry has more: search for a longer part of the name.")


@app.command()
@on_installation
async def show(installation: Installation, name: Name, json: JsonFlag = False) -> None:
    """Show a server. Header values are never shown."""
    async with installation.database.reading() as session:
        row = McpServerOut.model_validate(await service.get_server(session, acting(), name))
    if json:
        print_json(row.model_dump(mode="json"))
        return
    for label, value in (
        ("name", row.name),
        ("where", _where(row)),
        ("state", "on" if row.enabled else "off"),
        *((("may", str(row.access)),) if row.access else ()),
        ("secrets", ", ".join(row.secret_names) or "none"),
        ("connection", row.connection or "none"),
        ("model", _model(row.sampling)),
        ("tools found", when(row.tools_found_at) if row.tools_found_at else "never"),
        ("last error", row.error_message or "none"),
    ):
        console.print(f"{label:12} {value}", markup=False)


@app.command()
@on_installation
async def tools(installation: Installation, name: Name, json: JsonFlag = False) -> None:
    """List the tools of a server as of the last refresh."""
    async with installation.database.reading() as session:
        rows = [McpToolOut.model_validate(row) for row in await service.list_tools(session, acting(), name)]
    print_rows(
        rows,
        ("tool", "state", "the server says"),
        [(f"{name}.{row.name}", _state(row), clipped(row.description)) for row in rows],
        json=json,
    )


@app.command()
@on_parts
async def refresh(parts: Parts, name: Name, json: JsonFlag = False) -> None:
    """Reload the tools of a server."""
    await _refresh(parts.mcp, name, as_json=json)


@app.command()
def authorize(
    name: Name,
    client_id: Annotated[
        str, typer.Option("--client-id", help="Client that the provider issued; without, Headgate registers itself.")
    ] = "",
    scopes: Annotated[str, typer.Option("--scopes", help="Separated by spaces; as the server asks without.")] = "",
    personal: Annotated[bool, typer.Option("--personal", help="Only runs that you start may use it.")] = False,
    register_again: Annotated[bool, typer.Option("--register", help="Read the metadata and register again.")] = False,
    json: JsonFlag = False,
) -> None:
    """Authorize a server by OAuth 2.1: prints where to sign in. The secret of a client is read from standard input."""
    secret = _client_secret() if client_id else ""
    how = McpAuthorization(
        client_id=client_id,
        client_secret=SecretStr(secret),
        scopes=scopes,
        personal=personal,
        register_again=register_again,
    )

    async def work(parts: Parts) -> None:
        server = parts.settings.server
        base = server.public_url or f"http://127.0.0.1:{server.port}"
        authorizations = ServerAuthorizations(parts.connections, parts.mcp.programs)
        started = await authorizations.start(acting(), name, how, f"{base}{CALLBACK}")
        if json:
            print_json(started.model_dump(mode="json"))
            return
        console.print("Open this URL in a browser that is signed in to Headgate:")
        console.print(started.url, markup=False, soft_wrap=True)
        console.print("After the sign-in the page loads the tools of the server.")

    with_parts(work)


@app.command()
@on_installation
async def changes(installation: Installation, name: Name, json: JsonFlag = False) -> None:
    """Show how the descriptions of changed tools differ from those that a user accepted."""
    async with installation.database.reading() as session:
        rows = await service.list_tools(session, acting(), name)
        changed = [McpToolOut.model_validate(row) for row in rows if row.changed]
    if json:
        print_json([row.model_dump(mode="json") for row in changed])
        return
    for row in changed:
        console.print(f"{name}.{row.name}", markup=False)
        console.print("\n".join(row.difference or ["  The accepted description is not stored."]), markup=False)
    if not changed:
        console.print("No tool changed.")


@app.command()
@on_installation
async def accept(
    installation: Installation,
    name: Name,
    tool: Annotated[list[str] | None, typer.Argument(help="Tools; all changed ones without.")] = None,
    json: JsonFlag = False,
) -> None:
    """Accept tools whose description changed, so that models get them again."""
    async with installation.database.writing() as session:
        accepted = await service.accept_tools(session, acting(), name, tools=dict.fromkeys(tool or [], ""))
    text = "\n".join(["Accepted:", *accepted]) if accepted else "No tool changed."
    print_result(list(accepted), text, json=json, markup=False)


@app.command("test")
@on_parts
async def try_(parts: Parts, name: Name, json: JsonFlag = False) -> None:
    """Test the connection without saving anything."""
    answer = await parts.mcp.test(acting(), name)
    words = f"{answer.server or 'no name'}, MCP {answer.protocol}, {answer.tools} tools, {answer.ms:g} ms"
    print_result(answer.model_dump(mode="json"), f"{name} answers: {words}.", json=json, markup=False)


@app.command()
def switch(
    name: Name,
    on: Annotated[bool, typer.Option("--on/--off", help="Enable or disable it.")],
    tool: Annotated[str, typer.Option("--tool", help="A single tool instead of the whole server.")] = "",
    json: JsonFlag = False,
) -> None:
    """Enable or disable a server or one of its tools."""
    if tool:
        with_writing(lambda session, _: service.set_tool_enabled(session, acting(), name, tool, enabled=on))
    else:
        _update(name, McpServerPatch(enabled=on))
    row = {"name": f"{name}.{tool}" if tool else name, "enabled": on}
    print_result(row, f"Switched {'on' if on else 'off'}.", json=json)


@app.command()
def sampling(
    name: Name,
    model: Annotated[
        str, typer.Argument(help="Chat model, provider/name, that answers its requests; without, they are refused.")
    ] = "",
    max_tokens: Annotated[int, typer.Option(min=1, max=200_000, help="Maximum tokens of messages and answer.")] = 4000,
    max_requests: Annotated[int, typer.Option(min=1, max=50, help="Maximum requests during a call of a tool.")] = 5,
    ask: Annotated[
        bool, typer.Option("--ask/--no-ask", help="Whether a user allows each; --no-ask is for admins.")
    ] = True,
    json: JsonFlag = False,
) -> None:
    """Choose the model that answers requests of a server (sampling of MCP), or none."""
    try:
        limits = {"max_tokens": max_tokens, "max_requests": max_requests, "ask": ask}
        chosen = Sampling.model_validate({"model": model, **limits}) if model else None
    except ValidationError:
        raise BadMcpServer(f"{clipped(model, 80)!r} is not a model.", remedy="Write it as provider/name.") from None

    _update(name, McpServerPatch(sampling=chosen))
    row = {"name": name, "sampling": None if chosen is None else chosen.model_dump()}
    print_result(row, f"Requests for a model: {_model(chosen)}.", json=json)


@app.command()
def access(
    name: Name, host: Hosts = None, read: ReadFolders = None, write: WriteFolders = None, json: JsonFlag = False
) -> None:
    """Replace the hosts and folders of a program; without options it has none."""
    chosen = _access(host, read, write)
    _update(name, McpServerPatch(access=chosen))
    row = {"name": name, "access": chosen.model_dump()}
    print_result(row, f"The program may {chosen}.", json=json, markup=False)


@app.command()
def remove(name: Name, json: JsonFlag = False) -> None:
    """Remove a server and its tools."""
    with_writing(lambda session, _: service.delete_server(session, acting(), name))
    print_result({"removed": name}, f"Removed {name}.", json=json)


def _access(host: list[str] | None, read: list[str] | None, write: list[str] | None) -> ProgramAccess:
    try:
        return ProgramAccess(hosts=host or [], read=read or [], write=write or [])
    except ValidationError:
        raise BadMcpServer("There are too many hosts or folders, or one is empty or too long.") from None


def _update(name: str, patch: McpServerPatch) -> None:
    with_writing(
        lambda session, at: service.update_server(
            session, acting(), at.box, ProgramRules.of(at.settings), name, patch=patch
        )
    )


async def _refresh(connector: McpConnector, name: str, *, as_json: bool) -> None:
    server, changes = await connector.refresh(acting(), name)
    names = [tool.name for tool in server.tools]
    if as_json:
        details = {"added": changes.added, "changed": changes.changed, "removed": changes.removed}
        print_json({"name": name, "protocol": server.protocol, "tools": names, **details, "left_out": server.left_out})
        return
    console.print(f"{len(names)} tools: {', '.join(names) or 'none'}.", markup=False)
    for word, changed in (("New", changes.added), ("Changed", changes.changed), ("Gone", changes.removed)):
        if changed and len(changed) < len(names):
            console.print(f"{word}: {', '.join(changed)}.", markup=False)
    if changes.changed:
        console.print(f"Changed tools are refused until you accept them: [bold]headgate mcp-servers changes {name}[/]")
    for line in server.left_out:
        console.print(f"Skipped: {line}.", markup=False)


def _client_secret() -> str:
    if sys.stdin.isatty():
        return Prompt.ask("Client secret, empty for a public client", password=True, console=console)
    return sys.stdin.read().strip()


def _model(sampling: Sampling | None) -> str:
    if sampling is None:
        return "none, requests for one are refused"
    asked = "a user allows each request" if sampling.ask else "without asking"
    return f"{sampling.model}, {sampling.max_tokens} tokens, {sampling.max_requests} requests a call, {asked}"


def _state(row: McpToolOut) -> str:
    return "changed" if row.changed else "on" if row.enabled else "off"


def _cells(row: McpServerOut) -> tuple[str, str, str, str]:
    state = "off" if not row.enabled else "has an error, see show" if row.error_message else "on"
    return row.name, clipped(_where(row)), state, when(row.tools_found_at) if row.tools_found_at else "never"


def _where(row: McpServerOut) -> str:
    return row.url or " ".join(row.command or [])


def _pairs(written: list[str], mark: str) -> Secrets:
    secrets: Secrets = {}
    for pair in written:
        name, sign, value = pair.partition(mark)
        if not sign or not name.strip():
            raise BadMcpServer(f"{clipped(name, 40)!r} has no '{mark}' between name and value.")
        secrets[name.strip()] = _value(value.strip())
    return secrets


def _value(written: str) -> SecretStr | SecretReference:
    if not written.startswith("{"):
        return SecretStr(written)
    try:
        return SecretReference.parse(parse_json(written))
    except ValueError as error:
        raise BadMcpServer(
            f"A value that starts with {{ must name a secret: {error}.", remedy=f"Write {EXAMPLE}."
        ) from None
