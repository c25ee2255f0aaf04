"""Runs a flow in memory, step by step, on the real components: what the corpus is judged by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from headgate.features.catalog.registry import Registry
from headgate.graph.context import build_context
from headgate.graph.interpolate import resolve
from headgate.graph.model import Edge, Flow
from headgate.graph.plan import Plan, PlanStep, compile_plan
from headgate.graph.ports import PortType
from headgate.sdk import NOT_TAKEN
from headgate.sdk.coerce import coerce, encode, text_of
from headgate.sdk.testing import StepHarness
from headgate.sdk.tools import tool_of


@dataclass
class Ran:
    """What a run gave: the texts of its ends, and its files by name."""

    shown: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    waited: list[float] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)

    @property
    def everything(self) -> str:
        """All text that came out, with plain line ends."""
        return "\n".join([*self.shown, *self.files.values()]).replace("\r\n", "\n").lstrip("\ufeff")


class _Run:
    def __init__(self, flow: Flow, registry: Registry, harness: StepHarness) -> None:
        self.flow = flow
        self.registry = registry
        self.harness = harness
        self.plan: Plan = compile_plan(flow, registry)
        self.values: dict[tuple[str, str], Any] = {}
        self.types: dict[tuple[str, str], PortType] = {}
        self.results: dict[str, dict[str, JsonValue]] = {}
        self.ran = Ran()

    def alive(self, edge: Edge) -> bool:
        return self.values.get((edge.source, edge.output), NOT_TAKEN) is not NOT_TAKEN

    def skips(self, step: PlanStep) -> bool:
        if step.inbound and not any(self.alive(edge) for edge in step.inbound):
            return True
        for port in step.template.fields:
            edges = [edge for edge in step.inbound if edge.input == port.name]
            if (
                port.required
                and edges
                and not any(self.alive(edge) for edge in edges)
                and port.name not in step.node.params
            ):
                return True
        return False

    async def step(self, step: PlanStep) -> None:
        if self.skips(step):
            self.ran.skipped.add(step.id)
            return
        context = build_context(self.harness.ctx.input, self.results, self.plan, step.id)
        raw = {one.name for one in step.template.fields if not one.interpolate}
        values: dict[str, Any] = {
            name: value if name in raw else resolve(value, context) for name, value in step.node.params.items()
        }
        for port in step.template.fields:
            brought = [
                self.brought(edge, port.types) for edge in step.inbound if edge.input == port.name and self.alive(edge)
            ]
            if brought:
                values[port.name] = brought if port.many else brought[0]
        for attachment in step.attachments:
            component = self.registry.component(attachment.node.type)
            values[attachment.edge.input] = tool_of(component, attachment.node.params, self.harness.ctx)
        component = self.registry.component(step.node.type)
        found = await self.harness.run(component, values, outputs=step.outputs)
        template = {out.name: out.type for out in step.template.outputs}
        for name, value in found.items():
            self.values[step.id, name] = value
            self.types[step.id, name] = template[name]
        self.results[step.id] = {n: encode(v, template[n]) for n, v in found.items() if v is not NOT_TAKEN}

    def brought(self, edge: Edge, types: tuple[PortType, ...]) -> Any:
        key = (edge.source, edge.output)
        return coerce(self.values[key], self.types[key], types)


def _case(code: str, _function: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
    """Stands in for the sandbox: the only code that the offline builder writes changes the case of a text."""
    text = str(next(iter(arguments.values())))
    if "upper()" not in code and "lower()" not in code:
        raise AssertionError(code)
    return text.upper() if "upper()" in code else text.lower()


async def run(
    flow: Flow,
    registry: Registry,
    *,
    text: str = "",
    form: Mapping[str, JsonValue] | None = None,
    file: tuple[str, str] | None = None,
    pages: Mapping[str, str] | None = None,
) -> Ran:
    """Run a flow to its end. Raises what a step raises."""
    harness = StepHarness(text=text, form=form, files={file[0]: file[1].encode()} if file else None, code=_case)
    for url, page in (pages or {}).items():
        harness.http.answer(url, page, media_type="text/html")
    running = _Run(flow, registry, harness)
    for step in running.plan.steps:
        await running.step(step)
    for step in running.plan.steps:
        if not flow.outgoing(step.id) and step.id not in running.ran.skipped and step.node.type != "SaveFile":
            running.ran.shown += [text_of(running.values[step.id, name]) for name in running.results[step.id]]
    for saved in harness.ctx.files.saved:
        running.ran.files[saved.name] = (await harness.ctx.files.read(saved)).decode("utf-8-sig", "replace")
    running.ran.waited = harness.ctx.slept
    return running.ran
