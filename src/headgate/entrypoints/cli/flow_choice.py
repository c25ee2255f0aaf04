"""Which flow a command means: by id, or by a name that one flow only has."""

from typing import Annotated

import typer

from headgate.entrypoints.cli.session import acting
from headgate.entrypoints.compose import Parts
from headgate.features.flows import service
from headgate.foundation.ids import is_id

FlowArgument = Annotated[str, typer.Argument(metavar="FLOW", help="Id or name of the flow.")]


async def flow_id_of(parts: Parts, given: str) -> str:
    """The flow's id. Raises `FlowNotFound`, or `AmbiguousFlow` with the ids of those that share the name."""
    if is_id(given):
        return given
    async with parts.database.reading() as session:
        return (await service.get_flow_named(session, acting(), given)).id
