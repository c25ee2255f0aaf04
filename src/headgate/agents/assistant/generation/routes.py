"""HTTP routes that propose a component and save one that its user accepts."""

from typing import Annotated

from headgate.agents.assistant.generation.schemas import (
    ComponentProposalIn,
    ComponentProposalOut,
    ComponentSavedOut,
    ComponentSaveIn,
)
from headgate.agents.assistant.generation.workshop import Workshop
from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.foundation.api import Routes, part

router = Routes(prefix="/agentic/components", tags=["assistant"])


TheWorkshop = Annotated[Workshop, part("workshop")]
_EDIT = [needs(Permission.FLOWS_EDIT)]


@router.post("/proposals", "Propose a component", _EDIT, problems=(403,))
async def propose(body: ComponentProposalIn, caller: Caller, workshop: TheWorkshop) -> ComponentProposalOut:
    """Check code in the sandbox and report what it may access. Nothing is stored; save it with the proposal's id."""
    caller.require_somewhere(Permission.FLOWS_EDIT)
    try:
        return ComponentProposalOut.of(await workshop.propose(caller, body.code))
    except ComponentNotMade as error:
        return ComponentProposalOut.of_faults(error)


@router.post("", "Save a component", _EDIT, status_code=201, problems=(403, 404))
async def save(body: ComponentSaveIn, caller: Caller, workshop: TheWorkshop) -> ComponentSavedOut:
    """Save a component exactly as it was proposed to the caller; other code is refused."""
    caller.require_somewhere(Permission.FLOWS_EDIT)
    return ComponentSavedOut.of(await workshop.save(caller, body.code, body.proposal_id))
