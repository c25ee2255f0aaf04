"""Builds a flow from a described chain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headgate.agents.assistant.offline.assembly.assembler import Assembler
from headgate.agents.assistant.offline.assembly.draft import Draft
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.grammar.operations import Part, Statement
from headgate.agents.assistant.offline.grammar.program import read_program
from headgate.agents.assistant.offline.intents.own import own_steps
from headgate.agents.assistant.offline.intents.runs import RunRequest, take_run
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import Segment, segments
from headgate.features.catalog.words import word_set
from headgate.graph.model import Flow
from headgate.graph.names import clipped
from headgate.graph.template import Catalog

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Built:
    """A flow made of a request, with the state of its assembly."""

    flow: Flow
    shop: Workshop
    reading: Reading
    run: RunRequest | None

    @property
    def is_flow(self) -> bool:
        """Whether what was read makes a flow: something is done, or a source goes somewhere."""
        if any(node.type not in _ENDS for node in self.flow.nodes):
            return True
        if self.shop.needs_model:
            return any(value.source for value in self.shop.values) and self.named_source
        return bool(self.flow.edges) and (self.named_source or self.saves)

    @property
    def named_source(self) -> bool:
        """Whether the request itself says where the input comes from, beyond a mere text."""
        return any(node.type in _SOURCES for node in self.flow.nodes)

    @property
    def saves(self) -> bool:
        """Whether a file is written."""
        return any(node.type == "SaveFile" for node in self.flow.nodes)


_SOURCES = word_set("InstalledPackages URL HTTPRequest FileInput FormInput CurrentDate")
_ENDS = word_set("TextInput ChatInput FileInput FormInput InstalledPackages ChatOutput ReadFile SaveFile")


def build(reading: Reading, catalog: Catalog, default_model: str | None) -> Built:
    """Read the request and assemble what it describes; nothing is checked yet."""
    parts, left = own_steps(reading, segments(reading), catalog)
    run, clauses = take_run(reading, left)
    shop = Workshop(Draft(catalog), reading, default_model)
    assembler = Assembler(shop)
    assembler.run(_in_order(reading, clauses, parts))
    assembler.finish()
    return Built(_named(shop.draft.flow("New flow", reading.text[:1000].strip()), reading, clauses), shop, reading, run)


def _in_order(reading: Reading, clauses: Sequence[Segment], own: Mapping[int, Statement]) -> list[Part]:
    """The parts of a program, with the steps of own components at the places where they were named."""
    parts: list[Part] = []
    left = list(clauses)
    for at in sorted(own):
        before = [clause for clause in left if clause.start < at]
        parts += [*read_program(reading, before), own[at]] if before else [own[at]]
        left = left[len(before) :]
    return parts + read_program(reading, left) if left or not own else parts


def _named(flow: Flow, reading: Reading, clauses: Sequence[Segment]) -> Flow:
    return flow.model_copy(update={"name": title(reading, clauses, flow)})


def title(reading: Reading, clauses: Sequence[Segment], flow: Flow) -> str:
    """A name for the flow: what it saves, else the first clause that says something."""
    saved = next((str(node.params.get("name", "")) for node in flow.nodes if node.type == "SaveFile"), "")
    stem = saved.rpartition(".")[0].replace("-", " ").replace("_", " ").strip()
    if len(stem) > 2 and stem.lower() not in {"result", "output", "file", "finding"}:
        return stem[:1].upper() + stem[1:]
    for clause in clauses:
        start, end = clause.start, clause.end
        while start < end - 1 and reading.is_light(start) and not reading.is_action(start):
            start += 1
        words = reading.source(start, end)
        if any(reading.is_content(at) or reading.is_action(at) for at in range(start, end)):
            return clipped(words[:1].upper() + words[1:], _LONGEST_NAME)
    return "Untitled flow"
