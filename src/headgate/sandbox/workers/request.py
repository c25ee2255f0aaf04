"""One call into a worker, as it crosses the socket, and what the worker that takes it belongs to."""

import secrets
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from headgate.graph.manifest import NOTHING, Manifest

ID_BITS = 53
"""What every reader of JSON takes exactly."""


@dataclass(eq=False, slots=True)
class Scope:
    """One execution: of a step, or a check of a component. Two executions never share a worker."""

    tenant_id: str
    closed: bool = False
    """Whether its workers have ended."""


class Owner(NamedTuple):
    """What a worker serves from its first call on, and nothing else: one piece of code in one execution."""

    scope: Scope
    code: str
    manifest: Manifest = NOTHING


@dataclass(frozen=True, slots=True)
class Request:
    """One call, ready to be sent."""

    owner: Owner
    what: str
    """Names what is called, for people: `run()`, `the component`."""
    target: dict[str, JsonValue]
    """`{"function": name}` of the code's own, or `{"host": "module:function"}` of ours, which gets the module."""
    arguments: bytes
    """JSON object."""
    timeout_seconds: float
    grants: dict[str, JsonValue] = field(default_factory=dict)
    """What the code may do, sent along with it: `{"imports": [...]}`."""

    id: int = field(default_factory=lambda: secrets.randbits(ID_BITS))
    """Nobody can know it before the call: an answer that was sent ahead names another."""

    def payload(self, *, first: bool) -> bytes:
        """The request's JSON; a worker's first call brings the code along."""
        members = {"id": self.id, **self.target, "arguments": orjson.Fragment(self.arguments)}
        return orjson.dumps(members | {"code": self.owner.code, **self.grants} if first else members)
