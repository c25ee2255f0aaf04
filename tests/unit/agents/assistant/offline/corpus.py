"""The development set and how an understanding is judged against what an entry expects."""

import json
from pathlib import Path
from typing import Any

from headgate.agents.assistant.offline.trial import try_out
from headgate.agents.assistant.offline.understand import understand
from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.foundation.errors import HeadgateError
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec
from tests.unit.agents.assistant.offline.running import run

FOLDER = Path(__file__).parents[4] / "data" / "offline_corpus"
REGISTRY = Registry(BUILTINS)
Entry = dict[str, Any]
_CHANGING = frozenset({"build_flow", "add_component", "configure_component", "remove_component", "write_file"})


def entries(name: str) -> list[Entry]:
    """The entries of one part of the corpus."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def base_flow(entry: Entry) -> Flow:
    """The flow that is open while an entry's request is made."""
    name = entry.get("flow")
    return parse_spec((FOLDER / "flows" / f"{name}.flow").read_text(encoding="utf-8")) if name else Flow()


async def judge(entry: Entry) -> tuple[str, list[str]]:
    """`right`, `refused` or `wrong`, and what is wrong."""
    understood = understand(entry["request"], REGISTRY, base_flow(entry), entry.get("model"))
    understood = await try_out(understood, REGISTRY, None)
    changes = [action.tool for action in understood.actions if action.tool in _CHANGING]
    if entry.get("refuse"):
        return ("wrong", changes) if changes else ("right", [])
    intent = entry.get("intent", "build_flow")
    if intent in {"question", "run_flow"}:
        return ("right" if understood.intent == intent else "refused", [])
    if not understood.actions or understood.flow is None:
        return "refused", []
    faults = _shape_faults(entry, understood.flow) or await _output_faults(entry, understood.flow)
    return ("wrong", faults) if faults else ("right", [])


def _shape_faults(entry: Entry, flow: Flow) -> list[str]:
    types = {node.type for node in flow.nodes}
    if not entry.get("flow"):
        wanted = [] if "run" in entry else entry.get("types", [])
        return [f"no {each}" for each in wanted if not types & set(each.split("|"))]
    faults = [f"still has {each}" for each in entry.get("not_types", []) if each in types]
    for key, wanted in entry.get("params", {}).items():
        kinds, _, name = key.partition(".")
        values = [str(node.params.get(name)) for node in flow.nodes if node.type in kinds.split("|")]
        if not isinstance(wanted, list) and not any(str(wanted).lower() in value.lower() for value in values):
            faults.append(f"{key} is {values}, not {wanted}")
    return faults


async def _output_faults(entry: Entry, flow: Flow) -> list[str]:
    if "run" not in entry:
        return []
    given = entry["run"]
    file = tuple(given["file"]) if given.get("file") else None
    try:
        ran = await run(flow, REGISTRY, text=given.get("text", ""), form=given.get("form"), file=file)
    except HeadgateError as error:
        return [] if "no such column" in error.detail else [f"run fails: {error}"]  # a run says so itself
    text = ran.everything
    faults = [f"not in the output: {part!r}; got {text[:200]!r}" for part in entry.get("out", []) if part not in text]
    faults += [f"in the output: {part!r}; got {text[:200]!r}" for part in entry.get("not_out", []) if part in text]
    return faults + ([f"no file {entry['file']}"] if "file" in entry and entry["file"] not in ran.files else [])
