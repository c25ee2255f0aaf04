"""`headgate mcp`: Headgate as an MCP server for one client on this machine."""

import sys
from typing import Annotated

import typer

from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.mcp.studio import load_server, studio_of

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Headgate as an MCP server over stdio.")


@app.callback()
def _mcp() -> None:
    """Headgate as an MCP server over stdio."""


@app.command()
def serve(
    flows: Annotated[
        bool, typer.Option("--flows", help="Offer each published flow as a tool, instead of tools to build flows.")
    ] = False,
) -> None:
    """Serve MCP over standard input and output with the operator's permissions. Started and stopped by the client.

    A running server speaks MCP too, at /mcp: use that where others should be kept apart by API keys.
    """
    server = load_server()
    if sys.stdin.isatty():
        print("Waiting for an MCP client on standard input. Ctrl+C ends it.", file=sys.stderr)  # noqa: T201

    async def work(parts: Parts) -> None:
        await server.serve_stdio(studio_of(parts), acting(), parts.telemetry.metrics, flows=flows)

    with_parts(work)
