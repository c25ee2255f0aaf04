"""Authentication of SCIM requests."""

from typing import Annotated

from fastapi import Depends, Request

from headgate.features.accounts.addresses import address_of, counted
from headgate.features.accounts.directory.access import DirectoryConnection, connect
from headgate.features.accounts.identity import keys_of
from headgate.features.accounts.keys.errors import NetworkRefused
from headgate.features.accounts.ports import Scope, Throttle
from headgate.foundation.api import get_database
from headgate.foundation.errors import Unauthenticated


async def _connected(request: Request) -> DirectoryConnection:
    throttle: Throttle = request.app.state.throttle
    address = address_of(request)
    try:
        directory = await connect(get_database(request), keys_of(request), address)
    except (Unauthenticated, NetworkRefused):
        await throttle.allow(Scope.API_ADDRESS, counted(address))
        raise
    await throttle.allow(Scope.API_KEY, directory.principal.actor.key_id or "")
    return directory


ConnectedDirectory = Annotated[DirectoryConnection, Depends(_connected)]
