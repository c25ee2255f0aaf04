"""A request for a component and nothing else: the generation pipeline, and what `complete` reports of its outcome."""

from typing import Any

from headgate.agents.assistant.turn.turn import Turn
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.toolkit.ports import ComponentMaker


async def make_component(maker: ComponentMaker, turn: Turn, description: str) -> tuple[str, dict[str, Any]]:
    """Generate and propose a component. Returns the text for the user and the members of `complete` (seed 001's API).

    Nothing is stored: the user sees the code and what it may access, and accepts or rejects it. Exhausted attempts are
    a result, not an error: `validated` is false, with the last findings and the last code.
    Raises `BudgetSpent`, and the provider's errors.
    """
    try:
        proposed = await maker.generate(description)
    except ComponentNotMade as error:
        turn.declined = True
        return f"{error.detail} {error.remedy}".strip(), _not_made(error)
    turn.bench.propose_component(proposed)
    return _words(proposed), {"continuation_expected": False}


def _words(proposed: ProposedComponent) -> str:
    template = proposed.checked.template
    report = f"The component {template.type} passed its checks and is not saved yet: {template.description.strip()}"
    hosts = proposed.checked.manifest.hosts
    if hosts:
        report += (
            f"\n\nIt connects to {', '.join(hosts)}; the operator decides whether this is allowed "
            "(HEADGATE_SANDBOX__HOSTS)."
        )
    if proposed.checked.note:
        report += f"\n\n{proposed.checked.note}"
    return report


def members_of(proposed: ProposedComponent) -> dict[str, Any]:
    """The members of `complete` that are about a proposed component."""
    return {
        "validated": True,
        "class_name": proposed.checked.type,
        "component_code": proposed.checked.code,
        "component_proposal": proposed.id,
        "expires_at": proposed.expires_at.isoformat(),
        "validation_attempts": proposed.attempts,
        "manifest": proposed.checked.manifest.as_json(),
        "reach": proposed.checked.reach,
    }


def _not_made(error: ComponentNotMade) -> dict[str, Any]:
    extra = error.extra
    return {
        "validated": False,
        "class_name": extra.get("class_name") or None,
        "component_code": extra.get("component_code") or None,
        "validation_attempts": extra.get("attempts", 0),
        "validation_error": error.detail,
        "findings": extra.get("findings", []),
    }
