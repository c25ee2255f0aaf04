"""Tries a flow on a sample before it is said to be built: what fails, is empty or changes nothing is withdrawn.

The steps run in this process, on the real components; nothing is sent and nothing is stored. The sample is the data that
came with the request, else one that holds what the steps speak of. Steps that reach outside, ask a model, write a
document or run code in the sandbox are not tried, and neither is what comes after them.
"""  # noqa: E501

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from headgate.agents.assistant.offline.build.work import Hints
from headgate.agents.assistant.offline.choices import nearest, offered
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.reading.data import Sample
from headgate.agents.assistant.offline.replies import refusal
from headgate.agents.assistant.offline.understanding import Understanding
from headgate.foundation.errors import HeadgateError
from headgate.graph.context import build_context
from headgate.graph.embedding import embed
from headgate.graph.interpolate import resolve
from headgate.graph.model import Edge, Flow
from headgate.graph.plan import Plan, PlanStep, compile_plan
from headgate.graph.ports import PortType
from headgate.graph.template import Catalog
from headgate.sdk import NOT_TAKEN
from headgate.sdk.coerce import coerce, encode, text_of
from headgate.sdk.testing import StepHarness

_UNTRIED = frozenset(
    {
        *("Python", "MakeDocument", "Transcribe", "HTTPRequest", "ForEachPage", "URL", "WebhookOut"),
        *(
            "WorkspaceFiles",
            "FolderFiles",
            "WriteFile",
            "MoveFile",
            "GitFiles",
            "GitHistory",
            "CommitFiles",
            "OpenChange",
            "McpTools",
            "McpCall",
        ),
        *("Approval", "RunFlow", "ForEach", "Loop", "SendEvent", "WaitForEvent"),
    }
)
_TEXT = (
    "Dear Ann,\nplease call +46 70 123 45 67 or write to ann@example.org before 2026-03-01.\nSee https://example.org/plan"
    " #plan for 3 pens and 12 books.\nThe number is 850101-2384.\n\nOK. ERROR disk full! INFO wait.\nKind regards\n"
)


@dataclass
class Tried:
    """What a trial came to."""

    outcomes: dict[str, str] = field(default_factory=dict)
    """Step at the end to what came out of it, as text; what was not tried is missing."""
    untried: list[str] = field(default_factory=list)


async def try_out(understanding: Understanding, catalog: Catalog, sample: Sample | None) -> Understanding:
    """The understanding, when its flow works on a sample; else a refusal that says what went wrong."""
    if understanding.flow is None or understanding.hints is None:
        return understanding
    hints, language = understanding.hints, understanding.language
    text = _text(hints, sample)
    try:
        tried = await _tried(understanding.flow, catalog, text, hints, sample)
    except HeadgateError as error:
        return _withdrawn(understanding, f"{error.detail}")
    empty = [
        node for node, outcome in tried.outcomes.items() if not outcome.strip() or outcome.strip() in {"[]", "null"}
    ]
    if empty:
        return _withdrawn(understanding, message("nothing_came_out", language))
    same = hints.changes and any(outcome.strip() == text.strip() for outcome in tried.outcomes.values())
    if same and not hints.answers:
        return _withdrawn(understanding, message("came_out_unchanged", language))
    return replace(understanding, done=f"{understanding.done} {_described(tried, language)}")


def _described(tried: Tried, language: Language) -> str:
    if tried.untried:
        steps = ", ".join(tried.untried)
        return message("not_tried", language, steps=steps)
    return message("tried", language)


def _withdrawn(understanding: Understanding, reason: str) -> Understanding:
    language = understanding.language
    near = nearest(understanding.flow.name if understanding.flow is not None else "", language)
    text = f"{understanding.restatement}\n\n{refusal(reason, near, language)}"
    return Understanding("off_topic", text, language=language, choices=tuple(offered(near, language)))


def _text(hints: Hints, sample: Sample | None) -> str:
    """The sample's text; without one a text with what the steps speak of, on lines of its own."""
    if sample is not None and sample.columns is None:
        return sample.text
    return _TEXT + "".join(f"line with {text} in it\n{text}\n" for text in dict.fromkeys(hints.texts) if text)


def _table(hints: Hints, sample: Sample | None) -> tuple[str, str]:
    """Name and content of a file to try: the one that came, else a table of the columns that the steps speak of."""
    if sample is not None:
        return sample.name, sample.text
    rows = max([2, *(len(values) for values in hints.columns.values())])
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(hints.columns or {"name": []})
    for row in range(rows):
        writer.writerow(
            [values[row % len(values)] if values else row + 1 for values in (hints.columns or {"name": []}).values()]
        )
    return "sample.csv", out.getvalue()


async def _tried(flow: Flow, catalog: Catalog, text: str, hints: Hints, sample: Sample | None) -> Tried:
    reads_table = any(edge.output == "table" and _type(flow, edge.source) == "ReadFile" for edge in flow.edges)
    uploads = [field.id for field in flow.form if field.type == "file"]
    name, content = _table(hints, sample) if reads_table or uploads or sample is not None else ("sample.txt", text)
    form: dict[str, JsonValue] = {field.id: 7 if field.type == "number" else "sample" for field in flow.form}
    form |= {field: f"{field}.csv" for field in uploads}
    parses = any(node.type == "ParseJSON" for node in flow.nodes)
    given = json.dumps(_nested(hints.path) if hints.path else [{"a": 1}]) if parses else text
    names = [name, *(f"{field}.csv" for field in uploads)]
    harness = StepHarness(text=given, form=form, files=dict.fromkeys(names, content.encode()))
    return await _Trial(flow, catalog, harness).run()


def _nested(path: str) -> JsonValue:
    """A value in which a path leads to something."""
    value: JsonValue = "something"
    for part in reversed(re.findall(r"\w+|\[\d*\*?\]", path)):
        value = [value, value] if part.startswith("[") else {part: value}
    return value


def _type(flow: Flow, node_id: str) -> str:
    node = flow.node(node_id)
    return node.type if node is not None else ""


class _Trial:
    """One run of a flow in memory, step by step."""

    def __init__(self, flow: Flow, catalog: Catalog, harness: StepHarness) -> None:
        self.flow = flow
        self.catalog = catalog
        self.harness = harness
        self.plan: Plan = compile_plan(flow, catalog)
        self.values: dict[tuple[str, str], Any] = {}
        self.types: dict[tuple[str, str], PortType] = {}
        self.results: dict[str, dict[str, JsonValue]] = {}
        self.out_of_reach: set[str] = set()
        self.skipped: set[str] = set()
        self.tried = Tried()

    async def run(self) -> Tried:
        """Run every step that can be tried. Raises what a step raises."""
        for step in self.plan.steps:
            if self._untried(step):
                self.out_of_reach.add(step.id)
            elif step.inbound and not any(self._alive(edge) for edge in step.inbound):
                self.skipped.add(step.id)
            else:
                await self._step(step)
        return self.tried

    def _untried(self, step: PlanStep) -> bool:
        template = step.template
        first = template.type in _UNTRIED or template.model_using or step.attachments or template.outside
        if first:
            self.tried.untried.append(step.id)
        return bool(first) or any(edge.source in self.out_of_reach for edge in step.inbound)

    def _alive(self, edge: Edge) -> bool:
        return self.values.get((edge.source, edge.output), NOT_TAKEN) is not NOT_TAKEN

    async def _step(self, step: PlanStep) -> None:
        context = build_context(self.harness.ctx.input, self.results, self.plan, step.id)
        values = self._values(step, context)
        component = self.catalog.component(step.node.type)  # type: ignore[attr-defined]
        outputs = await self.harness.run(component, values, outputs=step.outputs)
        types = {out.name: out.type for out in step.template.outputs}
        for name, value in outputs.items():
            self.values[step.id, name], self.types[step.id, name] = value, types[name]
        self.results[step.id] = {n: encode(v, types[n]) for n, v in outputs.items() if v is not NOT_TAKEN}
        if step.node.type == "SaveFile":
            self.tried.outcomes[step.id] = await self._saved()
        elif not self.flow.outgoing(step.id):
            self.tried.outcomes[step.id] = "\n".join(
                text_of(self.values[step.id, name]) for name in self.results[step.id]
            )

    async def _saved(self) -> str:
        file = self.harness.ctx.files.saved[-1]
        return (await self.harness.ctx.files.read(file)).decode("utf-8-sig")

    def _values(self, step: PlanStep, context: Mapping[str, Any]) -> dict[str, Any]:
        raw = {field.name for field in step.template.fields if not field.interpolate}
        syntaxes = {field.name: field.syntax for field in step.template.fields}
        values: dict[str, Any] = {
            name: value
            if name in raw
            else embed(value, context, syntaxes.get(name, ""))
            if isinstance(value, str)
            else resolve(value, context)
            for name, value in step.node.params.items()
        }
        for port in step.template.fields:
            edges = [edge for edge in step.inbound if edge.input == port.name and self._alive(edge)]
            brought = [
                coerce(self.values[e.source, e.output], self.types[e.source, e.output], port.types) for e in edges
            ]
            if brought:
                values[port.name] = brought if port.many else brought[0]
        return values
