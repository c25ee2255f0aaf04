"""The parts of an installation as the operations of the toolkit take them, and the loading of the MCP library."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from headgate.agents.assistant.generation.workshop import Workshop
from headgate.entrypoints import studios
from headgate.entrypoints.compose import Parts
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.foundation.errors import Invalid, Unavailable
from headgate.toolkit.ports import SavedComponent

_ASK = (
    "Not stored. Show the user the code and everything in reach (hosts, secrets, files, imports) and ask. When the"
    " user accepts, call register_component with the same code and this proposal_id."
)


class McpNotInstalled(Unavailable):
    """The extra with the MCP library is not installed."""

    code = "mcp_not_installed"
    title = "MCP is not installed"


def load_server() -> Any:  # noqa: ANN401 - a module
    """The module that speaks MCP. Raises `McpNotInstalled`."""
    try:
        return import_module("headgate.entrypoints.mcp.server")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise McpNotInstalled(
            "MCP is not available in this installation: its library is not installed.",
            remedy="Install it with: pip install 'headgate[mcp]'",
        ) from error


@dataclass(frozen=True, slots=True)
class Registrar:
    """Proposes and saves components written by a client: the toolkit's `ComponentMaker` without a model."""

    workshop: Workshop
    principal: Principal

    @property
    def next_step(self) -> str:
        """The client's user decides."""
        return _ASK

    async def generate(self, description: str) -> ProposedComponent:
        """Refused: the client has a model, and this has none."""
        raise Invalid(
            f"A component cannot be generated here from {len(description)} characters of description.",
            remedy="Write its source and give it to propose_component.",
        )

    async def propose(self, code: str) -> ProposedComponent:
        """Check the source in the sandbox; nothing is stored. Raises `ComponentNotMade`."""
        return await self.workshop.propose(self.principal, code)

    async def save(self, code: str, proposal_id: str) -> SavedComponent:
        """Save what was proposed. Raises `ComponentNotProposed`, `ComponentNotMade`."""
        return await self.workshop.save(self.principal, code, proposal_id)


def studio_of(parts: Parts) -> Any:  # noqa: ANN401 - `toolkit.stored.Studio`, which costs time to import
    """Return the services for operations of MCP clients."""
    return studios.studio_of(parts, lambda principal: Registrar(parts.workshop, principal))
