"""Descriptions of APIs on the command line."""

import sys
from pathlib import Path

from headgate.components.readers.api.description import MOST_BYTES
from headgate.entrypoints.cli.output import console
from headgate.features.connections.apis.schemas import ApiChangesOut, ApiDocumentIn
from headgate.features.connections.errors import BadConnection
from headgate.graph.names import clipped, listed


def document_in(document: str) -> ApiDocumentIn:
    """Return the description at an address, in a file, or from standard input for `-`. Raises `BadConnection`."""
    if document.startswith(("http://", "https://")):
        return ApiDocumentIn(url=document)
    try:
        content = sys.stdin.buffer.read(MOST_BYTES + 1) if document == "-" else _read(Path(document))
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise BadConnection(
            f"The file {clipped(document, 200)}: {reason}.", remedy="Give a file, or an address."
        ) from error
    if not content.strip():
        raise BadConnection("The description of the API is empty.", remedy="Give a file, or an address.")
    return ApiDocumentIn(content=content.decode("utf-8-sig", errors="replace"))


def show_changes(name: str, outcome: ApiChangesOut) -> None:
    """Print what a description changed."""
    api = outcome.api
    console.print(f"{name}: {api.title or 'an API'} ({api.format}), {api.operations} operations.", markup=False)
    for label, keys in (("New", outcome.added), ("Changed", outcome.changed), ("Gone", outcome.removed)):
        if keys and not (label == "New" and len(outcome.added) == min(api.operations, 100)):
            console.print(f"{label}: {listed(keys)}", markup=False)
    if api.changed:
        console.print(f"{api.changed} wait until they are accepted: headgate connections accept {name}", markup=False)
    if api.skipped_count:
        console.print(f"{api.skipped_count} cannot be used:", markup=False)
        for line in api.skipped[:10]:
            console.print(f"  {line}", markup=False)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)
