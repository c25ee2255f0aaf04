"""Context of a session's tools: one server, its components and its chatflows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headgate.agents.codev.domain import Fault, Held
from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.catalogue import Catalogue
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.drawn import data_of, id_of, joined, nodes_of
from headgate.agents.codev.domains.flowise.errors import BadSpec
from headgate.agents.codev.domains.flowise.gathering import Faults
from headgate.agents.codev.domains.flowise.node_schema import NOTES, NodeSchema
from headgate.agents.codev.domains.flowise.preflight import faults_of, node_faults
from headgate.agents.codev.domains.flowise.quoting import one_line
from headgate.agents.codev.domains.flowise.store import Store


@dataclass(slots=True)
class ToolContext:
    """One server, for one session."""

    client: FlowiseClient
    catalogue: Catalogue
    store: Store
    schemas: Mapping[str, NodeSchema] | None = None
    """Components of the last response; None before the first."""
    credentials: Sequence[StoredCredential] | None = field(default=None, repr=False)

    async def look(self) -> tuple[Mapping[str, NodeSchema], Sequence[StoredCredential]]:
        """Components and credentials of the server now."""
        self.schemas = await self.catalogue.nodes()
        self.credentials = await self.client.list_credentials()
        return self.schemas, self.credentials

    def faults(self, definition: Mapping[str, Any], *, type_: str = "") -> list[Fault]:
        """Return what prevents a chatflow from being written, as far as the components are known."""
        return faults_of(definition, self.schemas, self.credentials, type_=type_)

    def other_faults(self, definition: Mapping[str, Any], gathered: Faults) -> None:
        """Add faults of values to nodes without other faults."""
        nodes = nodes_of(definition)
        there = {id_of(node): data_of(node) for node in nodes}
        for node in nodes:
            if id_of(node) in gathered.places or data_of(node).get("name") in NOTES:
                continue
            for fault in node_faults(node, there, self.schemas, self.credentials):
                gathered.add(
                    BadSpec(f"{one_line(fault.where, 200)}: {one_line(fault.message, 600)}", remedy=fault.remedy)
                )

    @staticmethod
    def exported(held: Held) -> dict[str, Any]:
        """Return a chatflow in Flowise's format, with its layout."""
        return joined(held.definition, held.about.get("layout"))
