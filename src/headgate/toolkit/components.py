"""Tools that make a component which is missing: for the flow at once, and for the person's next requests."""

import orjson
from pydantic import JsonValue

from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.graph.ports import CONFIGURATION_TYPES
from headgate.graph.tool_names import tool_name
from headgate.graph.wiring import can_be_tool
from headgate.toolkit.ports import ComponentMaker, MadeComponent
from headgate.toolkit.reading import TemplateReading
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MAX_DESCRIPTION_CHARS = 20_000
_TRIED = "The sandbox tried it with sample values, and it gave every output."
_TOLD = ("findings", "class_name", "attempts", "component_code")


async def generate_component(bench: Workbench, description: str) -> Result:
    """Have a component written, checked in the sandbox and made ready, when nothing that exists does the job.

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
    try:
        return _used(bench, await _maker(bench).generate(description))
    except ComponentNotMade as error:
        return _not_made(error)


async def register_component(bench: Workbench, code: str) -> Result:
    """Check the Python source of a component in the sandbox and make it ready. A refusal names every fault.

    Args:
        code: One class that derives from headgate.sdk.Component.
    """
    try:
        return _used(bench, await _maker(bench).register(code))
    except ComponentNotMade as error:
        return _not_made(error)


def _maker(bench: Workbench) -> ComponentMaker:
    if bench.maker is None:
        raise ToolRefused(
            "Components cannot be made here.",
            remedy="Use a Python node, or ask for the component in the studio's assistant.",
        )
    return bench.maker


def _used(bench: Workbench, made: MadeComponent) -> Result:
    """Put the component into this request's catalogue, and tell what it is."""
    checked = made.checked
    bench.learn(checked)
    reading = TemplateReading(checked.template).as_reading
    answer: Result = {
        "ok": True,
        "class_name": checked.type,
        "description": reading["description"],
        "inputs": reading["inputs"],
        "outputs": reading["outputs"],
        "manifest": checked.manifest.as_json(),
        "test": checked.note or _TRIED,
        "attempts": made.attempts,
        "kept": made.kept,
    }
    if can_be_tool(checked.template):
        data = [out.name for out in checked.template.outputs if out.type not in CONFIGURATION_TYPES]
        answer["tool_name"] = tool_name(checked.type, data)
    if not made.kept:
        answer["note"] = made.not_kept
    return answer | _hosts_note(checked.manifest.hosts)


def _not_made(error: ComponentNotMade) -> Result:
    """Every finding, and the code they are about when the model that wrote it is not the one that reads this."""
    answer: Result = {"ok": False, "error": error.detail, "remedy": error.remedy, "code": error.code}
    return answer | {name: error.extra[name] for name in _TOLD if error.extra.get(name)}


def _hosts_note(hosts: tuple[str, ...]) -> dict[str, JsonValue]:
    """What has to be done before it can reach the web; nothing when it does not want to."""
    if not hosts:
        return {}
    return {"operator_must_allow": list(hosts), "setting": f"HEADGATE_SANDBOX__HOSTS={orjson.dumps(hosts).decode()}"}
