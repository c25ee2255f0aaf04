"""A request for a component and nothing else: the generation pipeline, and what `complete` says of what came of it."""

from typing import Any

from headgate.agents.assistant.turn.turn import Turn
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.toolkit.ports import ComponentMaker, MadeComponent


async def make_component(maker: ComponentMaker, turn: Turn, description: str) -> tuple[str, dict[str, Any]]:
    """Have it made. Gives the words for the person and the members of `complete` (seed 001's API).

    A component that no attempt got through its checks is an answer, not an error: `validated` is false, the last
    findings and the last code are told. Raises `BudgetSpent`, and what a provider failed with.
    """
    try:
        made = await maker.generate(description)
    except ComponentNotMade as error:
        turn.declined = True
        return f"{error.detail} {error.remedy}".strip(), _not_made(error)
    turn.bench.registry = turn.bench.registry.with_own(made.checked)
    return _words(made), _made(made)


def _words(made: MadeComponent) -> str:
    template = made.checked.template
    said = f"The component {template.type} passed its checks: {template.description.strip()}"
    hosts = made.checked.manifest.hosts
    if hosts:
        said += f"\n\nIt asks {', '.join(hosts)}; the operator decides whether it may (HEADGATE_SANDBOX__HOSTS)."
    if made.checked.note:
        said += f"\n\n{made.checked.note}"
    if not made.kept:
        said += f"\n\nLater requests will not find it: {made.not_kept}"
    return said


def _made(made: MadeComponent) -> dict[str, Any]:
    return {
        "validated": True,
        "class_name": made.checked.type,
        "component_code": made.checked.code,
        "validation_attempts": made.attempts,
        "manifest": made.checked.manifest.as_json(),
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
