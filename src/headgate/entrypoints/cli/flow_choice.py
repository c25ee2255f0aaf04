"""Resolves the flow argument of a command: an id, or a unique name."""

from typing import TYPE_CHECKING, Annotated

import typer

from headgate.entrypoints.cli.session import acting
from headgate.entrypoints.installation import Installation
from headgate.foundation.ids import is_id
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.flows import service
else:
    service = lazy_module("headgate.features.flows.service")

FlowArgument = Annotated[str, typer.Argument(metavar="FLOW", help="Id or name of the flow.")]


async def flow_id_of(installation: Installation, id_or_name: str) -> str:
    """The flow's id. Raises `FlowNotFound`, or `AmbiguousFlow` with the ids of all flows with that name."""
    if is_id(id_or_name):
        return id_or_name
    async with installation.database.reading() as session:
        return (await service.get_flow_named(session, acting(), id_or_name)).id
