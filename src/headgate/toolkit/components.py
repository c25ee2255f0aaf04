"""Tools that propose a component which is missing: written or given as code, checked, and stored when accepted."""

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
    """Have a component written and checked when nothing that exists does the job. The user sees its code and accepts.

    Args:
        description: In whole sentences: what it takes, does and gives, which web service it asks.
    """
    if not description.strip():
        raise ToolRefused("The description is empty.", remedy="Say what goes in, what is done, and what comes out.")
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise ToolRefused(
            f"The description has {len(description)} characters; {MAX_DESCRIPTION_CHARS} are the most.",
            remedy="Describe one component; leave out data.",
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
    """Store a component that the user accepted, with exactly the code that propose_component was given.

    Args:
        code: The proposed source, unchanged.
        proposal_id: From the answer of propose_component.
    """
    try:
        saved = await _maker(bench).save(code, proposal_id)
    except ComponentNotMade as error:
        return _not_made(error)
    bench.learn(saved.checked)
    answer: Result = {"ok": True, "class_name": saved.checked.type, "kept": saved.kept}
    return answer if saved.kept else answer | {"not_kept": saved.not_kept}


def _maker(bench: Workbench) -> ComponentMaker:
    if bench.maker is None:
        raise ToolRefused(
            "Components cannot be made here.",
            remedy="Use a Python node, or ask for the component in the studio's assistant.",
        )
    return bench.maker


def _proposed(bench: Workbench, proposed: ProposedComponent, maker: ComponentMaker) -> Result:
    """Propose the component, and describe it and what it may reach."""
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
    """What an agent would call it; nothing when it cannot be a tool."""
    if not can_be_tool(template):
        return {}
    data = [out.name for out in template.outputs if out.type not in CONFIGURATION_TYPES]
    return {"tool_name": tool_name(template.type, data)}


def _not_made(error: ComponentNotMade) -> Result:
    """Every finding, and the code they are about when the model that wrote it is not the one that reads this."""
    answer: Result = {"ok": False, "error": error.detail, "remedy": error.remedy, "code": error.code}
    return answer | {name: error.extra[name] for name in _TOLD if error.extra.get(name)}


def _hosts_note(hosts: tuple[str, ...]) -> dict[str, JsonValue]:
    """What has to be done before it can reach the web; nothing when it does not want to."""
    if not hosts:
        return {}
    return {"operator_must_allow": list(hosts), "setting": f"HEADGATE_SANDBOX__HOSTS={orjson.dumps(hosts).decode()}"}
