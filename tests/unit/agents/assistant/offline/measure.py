"""Measures the offline builder on sentences with a checkable expectation, by running what it builds.

`python -m tests.unit.agents.assistant.offline.measure` prints the table that stands in `docs/guides/offline-builder.md`, and
with `--all` each sentence that is not right. The held-out sentences were written before the builder's design; nothing is
tuned on them.
"""  # noqa: E501

import asyncio
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from headgate.agents.assistant.offline.reading.data import look
from headgate.agents.assistant.offline.trial import try_out
from headgate.agents.assistant.offline.understand import understand
from headgate.agents.assistant.offline.understanding import Understanding
from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.foundation.errors import HeadgateError
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec
from tests.unit.agents.assistant.offline.running import Ran, run

FOLDER = Path(__file__).parents[4] / "data" / "offline_measure"
FLOWS = Path(__file__).parents[4] / "data" / "offline_corpus" / "flows"
REGISTRY = Registry(BUILTINS)
Entry = dict[str, Any]
OUTCOMES = ("right", "refused", "wrongly refused", "silently wrong")


def entries(name: str = "held_out") -> list[Entry]:
    """The sentences of a set."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def samples() -> dict[str, str]:
    """The files that sentences are about, name to content."""
    found: dict[str, str] = json.loads((FOLDER / "samples.json").read_text(encoding="utf-8"))
    return found


async def outcome(entry: Entry) -> tuple[str, str]:
    """One of `OUTCOMES`, and why where it is not right.

    `refused` is right: the sentence had to be refused, or there was nothing honest to build.
    """
    flow = _flow_of(entry)
    understood = await _understood(entry, flow)
    built = understood.flow if understood.actions and understood.intent in {"build_flow", "edit_flow"} else None
    if built is None:
        if entry.get("refuse") or entry.get("refuse_or"):
            missing = [word for word in entry.get("reply", ()) if word not in understood.reply]
            return ("refused", "") if not missing else ("refused", f"does not say {missing}")
        return "wrongly refused", understood.reply.split("\n")[0][:160]
    if entry.get("refuse"):
        return "silently wrong", understood.restatement
    faults = _shape_faults(entry, built) or await _run_faults(entry, built)
    return ("silently wrong", f"{faults} {understood.restatement}") if faults else ("right", "")


async def _understood(entry: Entry, flow: Flow) -> Understanding:
    name = entry.get("file")
    sample = look(name, samples()[name].encode()) if name and not entry.get("blind") else None
    understood = understand(entry["request"], REGISTRY, flow, entry.get("model"), sample)
    return await try_out(understood, REGISTRY, sample)


def _flow_of(entry: Entry) -> Flow:
    name = entry.get("flow")
    return parse_spec((FLOWS / f"{name}.flow").read_text(encoding="utf-8")) if name else Flow()


def _shape_faults(entry: Entry, flow: Flow) -> list[str]:
    types = {node.type for node in flow.nodes}
    faults = [f"no {type_}" for type_ in entry.get("types", ()) if type_ not in types]
    faults += [f"still {type_}" for type_ in entry.get("not_types", ()) if type_ in types]
    faults += [f"no step {id_}" for id_ in entry.get("ids", ()) if flow.node(id_) is None]
    for name, value in entry.get("params", {}).items():
        if not any(node.params.get(name) == value for node in flow.nodes):
            faults.append(f"no {name}={value}")
    prompts = " ".join(str(node.params.get("prompt", "")) for node in flow.nodes)
    faults += [f"prompt without {word}" for word in entry.get("prompt", ()) if word not in prompts]
    if "uses" in entry and not any(edge.output == entry["uses"] for edge in flow.edges):
        faults.append(f"does not use {entry['uses']}")
    if "no_edge" in entry:
        source, _, target = entry["no_edge"].partition(">")
        faults += [f"still {entry['no_edge']}" for edge in flow.edges if (edge.source, edge.target) == (source, target)]
    if "sql" in entry and not any(f"LIMIT {entry['sql']}" in str(node.params.get("sql")) for node in flow.nodes):
        faults.append("limit not changed")
    return faults


_CHECKS = ("out", "not", "outi", "outany", "order", "lines", "equals", "equals_number", "count", "saved", "savedlike")


async def _run_faults(entry: Entry, flow: Flow) -> list[str]:
    if not any(name in entry for name in _CHECKS) or {"URL", "HTTPRequest", "WebhookOut", "AIStep"} & {
        node.type for node in flow.nodes
    }:
        return []
    name = entry.get("file")
    file = (name, samples()[name]) if name else None
    try:
        ran = await run(flow, REGISTRY, text=entry.get("text", ""), form=entry.get("form"), file=file)
    except HeadgateError as error:
        return [f"run fails: {error}"]
    return _output_faults(entry, ran)


def _output_faults(entry: Entry, ran: Ran) -> list[str]:
    text = ran.everything
    faults = [f"no {part!r}" for part in entry.get("out", ()) if part not in text]
    faults += [f"no {part!r}" for part in entry.get("outi", ()) if part not in text.lower()]
    if "outany" in entry and not any(part in text for part in entry["outany"]):
        faults.append(f"none of {entry['outany']}")
    faults += [f"has {part!r}" for part in entry.get("not", ()) if re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text)]
    faults += [f"{part!r} x{text.count(part)}" for part, n in entry.get("count", {}).items() if text.count(part) != n]
    places = [text.find(part) for part in entry.get("order", ())]
    if -1 in places or places != sorted(places):
        faults.append(f"order {places}")
    if "equals" in entry and text.strip() != entry["equals"]:
        faults.append(f"is {text!r}")
    if "lines" in entry and text.strip().split("\n") != entry["lines"]:
        faults.append(f"is {text!r}")
    if "equals_number" in entry and re.findall(r"[\d.]+", text) != [str(entry["equals_number"])]:
        faults.append(f"is {text!r}")
    if "saved" in entry and entry["saved"] not in ran.files:
        faults.append(f"no file {entry['saved']}")
    if "savedlike" in entry and not any(name.endswith(entry["savedlike"]) for name in ran.files):
        faults.append(f"no file {entry['savedlike']}")
    return [f"{'; '.join(faults)} in {text[:120]!r}"] if faults else []


async def measured(name: str = "held_out") -> dict[str, Counter[str]]:
    """How many sentences of each language came out how."""
    counts: dict[str, Counter[str]] = {"English": Counter(), "Swedish": Counter()}
    for entry in entries(name):
        result, why = await outcome(entry)
        counts["Swedish" if entry["id"].startswith("s") or entry.get("lang") == "sv" else "English"][result] += 1
        if why and "--all" in sys.argv:
            print(f"{result:16} {entry['id']} {entry['request']}\n                 {why}")  # noqa: T201
    return counts


def table(counts: dict[str, Counter[str]]) -> str:
    """The counts as a Markdown table."""
    rows = [
        "| sentences | number | right | rightly refused | refused though possible | silently wrong |",
        "|---|---|---|---|---|---|",
    ]
    for language, count in [*counts.items(), ("all", sum(counts.values(), Counter[str]()))]:
        total = sum(count.values())
        cells = [f"{count[one]} ({100 * count[one] / total:.0f} %)" if total else "0" for one in OUTCOMES]
        rows.append(f"| {language} | {total} | {' | '.join(cells)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(asyncio.run(measured(next((arg for arg in sys.argv[1:] if not arg.startswith("-")), "held_out")))))  # noqa: T201
