"""Flows that the steps of a dry run would run: which, how often, and what their problems mean for the flow. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import JsonValue

from headgate.features.flows.called import MOST_DEPTH
from headgate.features.runs.preview.path import members_of
from headgate.features.runs.preview.schemas import DryCall, DryHost, DryReach, DryRunOut, DrySecret, DryStep, Finding
from headgate.graph.interpolate import references, texts_in
from headgate.graph.links import is_target
from headgate.graph.model import InputSource, Node
from headgate.graph.plan import PlanStep

MOST_FLOWS = 100
"""Flows of one dry run."""
Problem = Literal["", "cycle", "depth", "unavailable", "limit"]
_PER_ITEM = frozenset({"ForEach", "ForEachPage", "Map"})
_WHY = {
    "cycle": ("which leads back to a flow that runs it: {trail}", "Remove the step that runs this flow."),
    "depth": (f"whose flows run others more than {MOST_DEPTH} deep", "Let fewer flows run each other."),
    "unavailable": ("and you may run no published flow of that name or id", "Publish the flow, or choose another."),
    "limit": (
        f"which has no dry run here: a dry run shows at most {MOST_FLOWS} flows",
        "Start a dry run of that flow to see it.",
    ),
}


@dataclass(frozen=True, slots=True)
class Walk:
    """The way from the flow of a dry run to one that is called, and the dry runs that were made on it."""

    trail: tuple[tuple[str, str], ...] = ()
    """Ids and names of the flows that run each other."""
    previews: dict[tuple[str, int, int], DryRunOut] = field(default_factory=dict)
    """By flow, version and level: shared by the whole dry run."""

    def into(self, flow_id: str, name: str) -> "Walk":
        """Return the walk below a flow."""
        return replace(self, trail=(*self.trail, (flow_id, name)))

    def key(self, call: DryCall) -> tuple[str, int, int]:
        """Return the key of a dry run of a called flow."""
        return call.flow_id, call.version, len(self.trail)

    def problem(self, call: DryCall) -> Problem:
        """Return why a called flow has no dry run; empty when it has one."""
        if any(flow_id == call.flow_id for flow_id, _ in self.trail):
            return "cycle"
        if len(self.trail) > MOST_DEPTH:
            return "depth"
        return "limit" if len(self.previews) >= MOST_FLOWS and self.key(call) not in self.previews else ""


def calls_of(step: PlanStep, text: str) -> Iterator[DryCall]:
    """Return the flows that a step would run, itself or with its tools; `text` is the text of the run."""
    for node, _ in members_of(step):
        for value in node.params.values():
            if is_target(value):
                repeats = _repeats(step, node)
                at_least, at_most = _count(step, node, repeats, text)
                yield DryCall(
                    node=node.id,
                    flow_id=str(value["flow_id"]),
                    version=int(str(value["version"])),
                    name=str(value.get("name") or value["flow_id"]),
                    repeats=repeats,
                    at_least=at_least,
                    at_most=at_most,
                )


def _repeats(step: PlanStep, node: Node) -> Literal["once", "item", "round", "tool"]:
    if node.id != step.id:
        return "item" if step.node.type == "Map" else "tool"
    return "item" if node.type in _PER_ITEM else "round" if node.type == "Loop" else "once"


def _count(step: PlanStep, node: Node, repeats: str, text: str) -> tuple[int, int | None]:
    """Return how many runs there are at least and at most."""
    if repeats == "once":
        return 1, 1
    if repeats == "round":
        most = node.params.get("most")
        return 1, most if isinstance(most, int) else None
    items = _items(step, text) if repeats == "item" else None
    return (0, None) if items is None else (items, items)


def _items(step: PlanStep, text: str) -> int | None:
    """Return the number of items that a step has, where they are written in it or are the text of the run."""
    if step.node.type not in {"ForEach", "Map"} or any(edge.input == "items" for edge in step.inbound):
        return None
    value: JsonValue = step.node.params.get("items")
    if step.policy.input_source is InputSource.FLOW_INPUT:
        value = text
    elif step.policy.input_source is not InputSource.PREVIOUS_STEP or "items" in step.policy.input_bindings:
        return None
    if value in (None, "") or any(True for part in texts_in(value) for _ in references(part)):
        return None
    if isinstance(value, str) and step.node.type == "ForEach":
        value = [line for line in value.splitlines() if line.strip()]
    return len(value) if isinstance(value, list) else None


def findings_of(step: DryStep) -> Iterator[Finding]:
    """Return the problems of the flows that a step runs. A run that is not certain may do without them."""
    for call in step.calls:
        certain = step.runs == "certain" and call.at_least > 0
        why, remedy = _why(call)
        if why:
            yield Finding(
                severity="error" if certain and call.problem != "limit" else "warning",
                code="called_flow" if call.problem in {"", "limit"} else call.problem,
                message=f"step '{step.step_id}' runs the flow '{call.name}' version {call.version}, {why}.",
                remedy=remedy,
                node=call.node,
            )


def _why(call: DryCall) -> tuple[str, str]:
    if call.problem:
        why, remedy = _WHY[call.problem]
        return why.format(trail=" -> ".join(call.trail)), remedy
    if call.preview is None or call.preview.ok:
        return "", ""
    first = next(finding for finding in call.preview.findings if finding.severity == "error")
    return f"which cannot run: {first.message.removesuffix('.')}", first.remedy


def reach_of(hosts: Iterable[DryHost], secrets: Iterable[DrySecret], steps: Iterable[DryStep]) -> DryReach:
    """Return everything that steps access, themselves or in flows that they run."""
    below = [(step.step_id, call.preview.reach) for step in steps for call in step.calls if call.preview is not None]
    all_hosts = {
        (host.step_id, host.host, host.purpose): host
        for host in (
            *hosts,
            *(DryHost(step_id=step, host=host.host, purpose="flow") for step, reach in below for host in reach.hosts),
        )
    }
    all_secrets = {
        (secret.step_id, secret.name): secret
        for secret in (
            *secrets,
            *(
                secret.model_copy(update={"step_id": step})
                for step, reach in below
                for secret in sorted(reach.secrets, key=lambda secret: not secret.known)
            ),
        )
    }
    return DryReach(hosts=list(all_hosts.values()), secrets=list(all_secrets.values()))


def without_repeated(step: DryStep) -> DryStep:
    """Return a step without dry runs that an earlier call of the same version has."""
    calls = [call.model_copy(update={"preview": None}) if call.shown_before else call for call in step.calls]
    return step.model_copy(update={"calls": calls}) if calls else step


def describe_call(call: DryCall) -> str:
    """Return which flow is run how often, what one run costs at least, and why its dry run is missing."""
    often = {
        "once": "once",
        "round": f"up to {call.at_most} rounds" if call.at_most is not None else "per round",
        "item": f"{call.at_most} items" if call.at_most is not None else "per item",
        "tool": "per call of the tool",
    }[call.repeats]
    cost = ""
    if call.totals is not None and call.totals.model_steps:
        price = call.totals.cost_usd_at_least
        dollars = "price not known" if price is None else f"${price:.6f}"
        cost = f"at least {call.totals.tokens_input_at_least} tokens of prompt, {dollars} each"
    missing = {
        "": "shown above" if call.shown_before else "",
        "cycle": f"leads back: {' -> '.join(call.trail)}",
        "depth": "too deep",
        "unavailable": "you may run no such flow",
        "limit": "too many flows to show",
    }[call.problem]
    parts = (f"runs '{call.name}' version {call.version}", often, cost, missing)
    return "; ".join(part for part in parts if part)
