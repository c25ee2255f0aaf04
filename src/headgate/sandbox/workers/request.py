"""A call to a worker as sent over the socket, and the owner of the worker."""

import secrets
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from headgate.graph.manifest import NOTHING, Manifest

ID_BITS = 53
"""Largest integer that every JSON reader parses exactly."""


@dataclass(eq=False, slots=True)
class Scope:
    """One execution: of a step, or a check of a component. Executions never share a worker."""

    tenant_id: str
    closed: bool = False
    """Whether its workers have ended."""


class Owner(NamedTuple):
    """Owner of a worker from its first call on: one piece of code in one execution."""

    scope: Scope
    code: str
    manifest: Manifest = NOTHING


@dataclass(frozen=True, slots=True)
class Request:
    """One call, ready to be sent."""

    owner: Owner
    what: str
    """What is called, for users: `run()`, `the component`."""
    target: dict[str, JsonValue]
    """`{"function": name}` for the code's own function, or `{"host": "module:function"}` for a trusted one."""
    arguments: bytes
    """JSON object."""
    timeout_seconds: float
    grants: dict[str, JsonValue] = field(default_factory=dict)
    """Permissions of the code: `{"imports": [...]}`."""

    id: int = field(default_factory=lambda: secrets.randbits(ID_BITS))
    """Unpredictable before the call: a response that was sent ahead has another id."""

    def payload(self, *, first: bool) -> bytes:
        """Return the request's JSON; a worker's first call includes the code."""
        members = {"id": self.id, **self.target, "arguments": orjson.Fragment(self.arguments)}
        return orjson.dumps(members | {"code": self.owner.code, **self.grants} if first else members)
