"""The knowledge base that a command names."""

from typing import Annotated, Literal

import typer

from headgate.entrypoints.cli.session import acting
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge import service
from headgate.features.knowledge.tables import KnowledgeBaseRow

RoleOption = Annotated[
    Literal["nobody", "visitor", "viewer", "runner", "editor", "publisher", "owner"] | None,
    typer.Option(help="Lowest role in the space that may read it; nobody: only its owner and listed readers."),
]
LevelOption = Annotated[int | None, typer.Option(help="Sensitivity level.", min=0, max=4)]
BaseArgument = Annotated[str, typer.Argument(metavar="BASE", help="Id or name of the knowledge base.")]


async def find_base(installation: Installation, which: str) -> KnowledgeBaseRow:
    """Return the base with an id, or with a name in the space. Raises `BaseNotFound`, `PermissionMissing`."""
    async with installation.database.reading() as session:
        return await service.find_base(session, acting(), which, space_id=acting().space_id)
