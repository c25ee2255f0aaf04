"""Tools that propose a missing component, generated or given as code, checked, and saved on acceptance."""

import orjson
from pydantic import JsonValue

from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.graph.ports import CONFIGURATION_TYPES
from headgate.graph.template import Template
from headgate.graph.tool_names import tool_name
from headgate.graph.wiring import can_be_tool
from headgate.toolkit.ports import ComponentMaker
from headgate.toolkit.reading import TemplateReading
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MAX_DESCRIPTION_CHARS = 20_000
_TRIED = "The sandbox tried it with sample values, and it gave every output."
_TOLD = ("findings", "class_name", "attempts", "component_code")


async def generate_component(bench: Workbench, description: str) -> Result:
    """Have a component written and checked if no existing one fits. The user reviews and accepts its code.

    Args:
        description: In full sentences: its inputs, behaviour, outputs, and web services.
    """
    if not description.strip():
        raise ToolRefused("The description is empty.", remedy="Describe the inputs, the processing and the outputs.")
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise ToolRefused(
            f"The description has {len(description)} characters; at most {MAX_DESCRIPTION_CHARS} are allowed.",
            remedy="Describe one component and omit data.",
        )
    maker = _maker(bench)
    try:
        return _proposed(bench, await maker.generate(description), maker)
    except ComponentNotMade as error:
        return _not_made(error)


async def propose_component(bench: Workbench, code: str) -> Result:
    """Check the Python source of a component in the sandbox and propose it, unsaved. A refusal names every fault.

    Args:
        code: One class that derives from headgate.sdk.Component.
    """
    maker = _maker(bench)
    try:
        return _proposed(bench, await maker.propose(code), maker)
    except ComponentNotMade as error:
        return _not_made(error)


async def register_component(bench: Workbench, code: str, proposal_id: str) -> Result:
    """Save a component that the user accepted, with exactly the code passed to propose_component.

    Args:
        code: The proposed source, unchanged.
        proposal_id: From the result of propose_component.
    """
    try:
        saved = await _maker(bench).save(code, proposal_id)
    except ComponentNotMade as error:
        return _not_made(error)
    bench.learn(saved.checked)
    answer: Result = {"ok": True, "class_name": saved.checked.type, "kept": saved.stored}
    return answer if saved.stored else answer | {"not_kept": saved.not_kept}


def _maker(bench: Workbench) -> ComponentMaker:
    if bench.maker is None:
        raise ToolRefused(
            "Components cannot be generated here.",
            remedy="Use a Python node, or ask for the component in the studio's assistant.",
        )
    return bench.maker


def _proposed(bench: Workbench, proposed: ProposedComponent, maker: ComponentMaker) -> Result:
    """Propose the component, and describe it and what it may access."""
    bench.propose_component(proposed)
    checked = proposed.checked
    reading = TemplateReading(checked.template).as_reading
    answer: Result = {
        "ok": True,
        "proposal_id": proposed.id,
        "stored": False,
        "class_name": checked.type,
        "description": reading["description"],
        "inputs": reading["inputs"],
        "outputs": reading["outputs"],
        "reach": checked.reach,
        "test": checked.note or _TRIED,
        "attempts": proposed.attempts,
        "expires_at": proposed.expires_at.isoformat(),
        "next": maker.next_step,
    }
    return answer | _tool(checked.template) | _hosts_note(checked.manifest.hosts)


def _tool(template: Template) -> dict[str, JsonValue]:
    """Return the name of the component as a tool; empty when it cannot be one."""
    if not can_be_tool(template):
        return {}
    data = [out.name for out in template.outputs if out.type not in CONFIGURATION_TYPES]
    return {"tool_name": tool_name(template.type, data)}


def _not_made(error: ComponentNotMade) -> Result:
    """Return every finding, and the code if another model wrote it."""
    answer: Result = {"ok": False, "error": error.detail, "remedy": error.remedy, "code": error.code}
    return answer | {name: error.extra[name] for name in _TOLD if error.extra.get(name)}


def _hosts_note(hosts: tuple[str, ...]) -> dict[str, JsonValue]:
    """Return what must be configured before it can access the web; empty when it does not."""
    if not hosts:
        return {}
    return {"operator_must_allow": list(hosts), "setting": f"HEADGATE_SANDBOX__HOSTS={orjson.dumps(hosts).decode()}"}
