"""Finds out who sent a request."""

from dataclasses import replace

from fastapi import Request

from headgate.features.access.principal import LOCAL, Principal


class LocalIdentity:
    """Auto-login: whoever reaches the server is the one local user."""

    async def identify(self, request: Request) -> Principal:
        """The local user, at the address the request came from."""
        address = request.client.host if request.client is not None else None
        return replace(LOCAL, actor=replace(LOCAL.actor, address=address))
