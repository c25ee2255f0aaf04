"""Headgate's own flows as a platform: everything uses the toolkit, with the user's own rights."""

from dataclasses import dataclass
from pathlib import Path

from headgate.agents.codev.domain import Phase
from headgate.agents.codev.domains.headgate.place import KeysOf, Place
from headgate.agents.codev.domains.headgate.workplace import HeadgateWorkplace
from headgate.agents.codev.skills.loader import load_skill, with_packs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space
from headgate.features.connections import service as connections
from headgate.features.mcptools import service as mcp_servers
from headgate.features.models.local.models import LocalModels
from headgate.features.packs import repository as packs
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import NotFound
from headgate.graph.model import Flow
from headgate.toolkit.stored.visit import Studio

SKILL = "headgate_builder"

FALLBACK: dict[Phase, str] = {
    Phase.DISCOVER: (
        "Look before you plan: search_components and describe_component for every component you will use, list_models"
        " for steps that need a model, list_variables for keys. End with a block that says CREDENTIALS_STATUS: OK, or"
        " CREDENTIALS_STATUS: MISSING and MISSING_TYPES: with names of variables or ids of providers."
    ),
    Phase.PLAN: "Name each node with its type, each edge with its output and input, and test cases that check.",
    Phase.PATCH: "Write a new flow with build_flow, as spec text. For changes use the smaller tools.",
    Phase.TEST: "A case passes when everything that it expects holds for the text that the flow answers with.",
}


def load_knowledge(folder: Path | None) -> dict[Phase, str]:
    """Load Markdown by phase; an operator's file in `folder` has priority."""
    return load_skill(SKILL, FALLBACK, folder=folder)


LONGEST_TRIAL_SECONDS = 600.0


class NoInstances(NotFound):
    """The Headgate platform has no instances."""

    code = "codev_instance_not_found"
    title = "Instance not found"


@dataclass(frozen=True, slots=True)
class HeadgateDomain:
    """A `domain.Domain`.

    Args:
        studio: The parts of the installation.
        keys_of: Where the keys of a person's models come from.
        box: Encrypts the variables that are set.
        local: The local models of this process.
        skills: The operator's folder of skills.
        trial_seconds: How long one run of a test case may take.
    """

    studio: Studio
    keys_of: KeysOf
    box: SecretBox
    local: LocalModels | None = None
    skills: Path | None = None
    trial_seconds: float = LONGEST_TRIAL_SECONDS

    @property
    def name(self) -> str:
        """What sessions choose it by."""
        return "headgate"

    async def open(self, principal: Principal, space_id: str, instance_id: str) -> HeadgateWorkplace:
        """Open a workplace in a space where the user may edit flows; by default the user's own.

        Raises `SpaceNotFound`, `PermissionMissing`, `NoInstances`.
        """
        if instance_id:
            raise NoInstances(
                f"There is no instance '{instance_id[:100]}': Headgate has a single instance.",
                remedy="Omit the instance, or choose the domain flowise.",
            )
        space = space_id or principal.space_id
        async with self.studio.database.reading() as session:
            await require_space(session, principal, space, Permission.FLOWS_EDIT)
            servers = principal.may(Permission.MCP_SERVERS_VIEW, space) and await mcp_servers.names_in(
                session, tenant_id=principal.tenant_id, space_id=space
            )
            usable = principal.may(Permission.CONNECTIONS_VIEW, space) and await connections.list_connections(
                session, principal, space_id=space
            )
            skills = await packs.list_pack_items(session, "skill")
        catalog = await self.studio.catalog_of(principal, Flow())
        place = Place(self.studio, principal, space, self.keys_of, self.box, self.local, catalog)
        knowledge = with_packs(load_knowledge(self.skills), [(item.key, item.content["text"]) for item in skills])
        return HeadgateWorkplace(place, knowledge, bool(servers), bool(usable), self.trial_seconds)
