"""One call into a worker, as it crosses the socket, and whom the worker that takes it belongs to."""

from dataclasses import dataclass, field
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from headgate.graph.manifest import NOTHING, Manifest


class Owner(NamedTuple):
    """Whom a worker serves from its first call on: nobody else, and nothing else of his."""

    tenant_id: str
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

    def payload(self, call: int) -> bytes:
        """The request's JSON; a worker's first call brings the code along."""
        members = {"id": call, **self.target, "arguments": orjson.Fragment(self.arguments)}
        return orjson.dumps(members | {"code": self.owner.code, **self.grants} if call == 1 else members)
