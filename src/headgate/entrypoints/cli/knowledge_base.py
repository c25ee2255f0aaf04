"""The knowledge base that a command names."""

from typing import Annotated

import typer

from headgate.entrypoints.cli.session import acting
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge import service
from headgate.features.knowledge.tables import KnowledgeBaseRow

BaseArgument = Annotated[str, typer.Argument(metavar="BASE", help="Id or name of the knowledge base.")]


async def find_base(installation: Installation, which: str) -> KnowledgeBaseRow:
    """Return the base with an id, or with a name in the space. Raises `BaseNotFound`, `PermissionMissing`."""
    async with installation.database.reading() as session:
        return await service.find_base(session, acting(), which, space_id=acting().space_id)
