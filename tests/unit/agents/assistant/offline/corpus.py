"""The corpus of requests and how an understanding is judged against what an entry expects."""

import json
from pathlib import Path
from typing import Any

from headgate.agents.assistant.offline.understand import understand
from headgate.agents.assistant.offline.understanding import Understanding
from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.foundation.errors import HeadgateError
from headgate.graph.model import Edge, Flow
from headgate.graph.spec import parse_spec
from headgate.graph.validate import check_draft, check_runnable
from headgate.toolkit.registry import READING_TOOLS
from tests.unit.agents.assistant.offline.running import run

FOLDER = Path(__file__).parents[4] / "data" / "offline_corpus"
REGISTRY = Registry(BUILTINS)
Entry = dict[str, Any]


def entries(name: str) -> list[Entry]:
    """The entries of one half of the corpus."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def base_flow(entry: Entry) -> Flow:
    """The flow that is open while an entry's request is made."""
    name = entry.get("flow")
    return parse_spec((FOLDER / "flows" / f"{name}.flow").read_text(encoding="utf-8")) if name else Flow()


async def judge(entry: Entry) -> list[str]:
    """What an understanding gets wrong, empty when it is as expected."""
    flow = base_flow(entry)
    found = understand(entry["request"], REGISTRY, flow, entry.get("model"))
    faults = _intent_faults(entry, found)
    if entry.get("refuse"):
        acts = [one.tool for one in found.actions if one.tool not in READING_TOOLS]
        return faults + ([f"acts: {acts}"] if acts else []) + _reply_faults(entry, found)
    if found.flow is not None:
        faults += _flow_faults(entry, found.flow)
        check = check_draft if entry.get("draft") else check_runnable
        faults += [str(issue.message) for issue in check(found.flow, REGISTRY)]
    elif entry.get("intent", "build_flow") in {"build_flow", "edit_flow"}:
        faults.append(f"no flow: {found.reply[:80]}")
    faults += _left_faults(entry, found) + _run_faults(entry, found) + _reply_faults(entry, found)
    if "run" in entry and found.flow is not None and not faults:
        faults += await _output_faults(entry, found.flow)
    return faults


def _intent_faults(entry: Entry, found: Understanding) -> list[str]:
    wanted = entry.get("intent", "" if entry.get("refuse") else "build_flow").split("|")
    return [] if wanted == [""] or found.intent in wanted else [f"intent {found.intent}"]


def _left_faults(entry: Entry, found: Understanding) -> list[str]:
    wanted = entry.get("left", [])
    if wanted is None:
        return []
    told = " ".join([*found.left_out, found.reply]).lower()
    missing = [f"does not say it left out {part}" for part in wanted if part not in told]
    return missing + ([f"left out {list(found.left_out)}"] if found.left_out and not wanted else [])


def _run_faults(entry: Entry, found: Understanding) -> list[str]:
    runs = [action.arguments for action in found.actions if action.tool == "run_flow"]
    faults: list[str] = []
    if ("run_text" in entry or "run_form" in entry or entry.get("intent") == "run_flow") and not runs:
        return ["does not run"]
    if "run_text" in entry and runs[0].get("text") != entry["run_text"]:
        faults.append(f"runs with {runs[0]}")
    if "run_form" in entry and runs[0].get("form") != entry["run_form"]:
        faults.append(f"runs with {runs[0]}")
    return faults


def _reply_faults(entry: Entry, found: Understanding) -> list[str]:
    return [
        f"does not say '{part}': {found.reply[:120]}"
        for part in entry.get("reply", [])
        if part.lower() not in found.reply.lower()
    ]


def _flow_faults(entry: Entry, flow: Flow) -> list[str]:
    types = [node.type for node in flow.nodes]
    faults: list[str] = []
    left = list(types)
    for wanted in entry.get("types", []):
        found = next((type_ for type_ in left if type_ in wanted.split("|")), None)
        if found is None:
            faults.append(f"no {wanted}")
        else:
            left.remove(found)
    faults += [f"still has {type_}" for type_ in entry.get("not_types", []) if type_ in types]
    faults += [f"no node {id_}" for id_ in entry.get("ids", []) if flow.node(id_) is None]
    for key, wanted in entry.get("params", {}).items():
        faults += _param_faults(flow, key, wanted)
    return faults + _edge_faults(entry, flow)


def _param_faults(flow: Flow, key: str, wanted: Any) -> list[str]:
    types, _, name = key.partition(".")
    values = [node.params.get(name) for node in flow.nodes if node.type in types.split("|")]
    if isinstance(wanted, list):
        fits = any(all(part.lower() in str(value).lower() for part in wanted) for value in values)
    elif isinstance(wanted, str) and name in {"expression", "prompt"}:
        fits = any(wanted.lower() in str(value).lower() for value in values)
    else:
        fits = wanted in values
    return [] if fits else [f"{key} is {values}, not {wanted}"]


def _edge_faults(entry: Entry, flow: Flow) -> list[str]:
    kinds = {node.id: node.type for node in flow.nodes}
    pairs = {f"{kinds[edge.source]}>{kinds[edge.target]}" for edge in flow.edges}
    faults = [f"no edge {pair}" for pair in entry.get("has_edges", []) if pair not in pairs]
    faults += [f"still edge {pair}" for pair in entry.get("no_edges", []) if pair in pairs]
    for wanted in entry.get("edges", []):
        faults += [] if _has(wanted, flow, kinds) else [f"no {wanted}"]
    return faults


def _has(wanted: str, flow: Flow, kinds: dict[str, str]) -> bool:
    if wanted == "branch":
        ways: dict[str, set[str]] = {}
        for edge in flow.edges:
            if kinds[edge.source] in {"If", "Switch"}:
                ways.setdefault(edge.source, set()).add(edge.output)
        return any(len(outputs) > 1 for outputs in ways.values())
    return any(len(_sources(flow.incoming(node.id))) > 1 for node in flow.nodes)


def _sources(edges: tuple[Edge, ...]) -> set[str]:
    return {edge.source for edge in edges}


async def _output_faults(entry: Entry, flow: Flow) -> list[str]:
    given = entry["run"]
    file = given.get("file")
    try:
        ran = await run(
            flow, REGISTRY, text=given.get("text", ""), form=given.get("form"), file=tuple(file) if file else None
        )
    except HeadgateError as error:
        return [f"run fails: {error}"]
    told = ran.everything
    faults = [f"not in the output: {part!r}; got {told[:200]!r}" for part in entry.get("out", []) if part not in told]
    faults += [f"in the output: {part!r}; got {told[:200]!r}" for part in entry.get("not_out", []) if part in told]
    if "file" in entry and entry["file"] not in ran.files:
        faults.append(f"no file {entry['file']}: {list(ran.files)}")
    return faults
