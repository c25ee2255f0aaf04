"""The offline builder: interprets requests about flows without a language model, and returns tool calls."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.agents.assistant.intent.intents import Intent
from headgate.agents.assistant.offline.conclusion import Outcome, ReadBack, conclude, corrected, outcome_of, succeeded
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import known, message
from headgate.agents.assistant.offline.reading.data import Sample, look
from headgate.agents.assistant.offline.trial import try_out
from headgate.agents.assistant.offline.understand import understand
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.graph.model import Edge, Flow, FlowSettings, Node, StepPolicy
from headgate.graph.spec_print import changed_members
from headgate.graph.template import Catalog

_WORDS_A_PIECE = 4


@dataclass(frozen=True, slots=True)
class Closing:
    """The final text of a request."""

    text: str
    declined: bool
    """Whether it states that nothing was done."""
    choices: tuple[str, ...] = ()
    """The most similar supported requests, when nothing was done."""

    def pieces(self) -> Iterator[str]:
        """Yield the text, a few words at a time."""
        yield from pieces_of(self.text)


def pieces_of(text: str) -> Iterator[str]:
    """Yield a text, a few words at a time."""
    words = text.split(" ") if text else []
    for start in range(0, len(words), _WORDS_A_PIECE):
        ending = " " if start + _WORDS_A_PIECE < len(words) else ""
        yield " ".join(words[start : start + _WORDS_A_PIECE]) + ending


@dataclass(slots=True)
class Work:
    """A request: its remaining work, and the results so far."""

    understanding: Understanding
    waiting: list[Action]
    catalog: Catalog
    current_flow: Callable[[], Flow]
    before: Flow
    """The flow when the request came."""
    outcomes: list[Outcome] = field(default_factory=list)
    retried: bool = False

    @property
    def restatement(self) -> str:
        """What will be done, to be shown before the first action; empty when nothing is built or changed."""
        return self.understanding.restatement if self.understanding.actions else ""

    def next(self) -> Action | Closing:
        """Return the next tool call, or the final text."""
        if not self.waiting:
            done = succeeded(self.understanding, self.outcomes)
            choices = () if done else self.understanding.choices
            return Closing(
                conclude(self.understanding, self.outcomes, self._read()), declined=not done, choices=choices
            )
        return self.waiting.pop(0).after(self.outcomes[-1].answer if self.outcomes else {})

    def _read(self) -> ReadBack:
        """What the flow has now and had not before, and what it was to have and has not."""
        promised, now = self.understanding.flow, self.current_flow()
        if promised is None or not self.outcomes:
            return (), ()
        before, expected, present = (
            facts(flow, self.catalog, self.understanding.language) for flow in (self.before, promised, now)
        )
        return [line for line in present if line not in before], [line for line in expected if line not in present]

    def take(self, action: Action, answer: str) -> None:
        """Read a tool's answer; after an error one corrected try, else stop."""
        outcome = outcome_of(action, answer)
        self.outcomes.append(outcome)
        if outcome.ok or action.tool == "run_flow":
            return
        better = None if self.retried else corrected(action, outcome)
        self.retried = True
        self.waiting = [better, *self.waiting] if better is not None else []


@dataclass(slots=True)
class OfflineBuilder:
    """Builds what it can restate in full; everything else is refused, with what it can do near it."""

    catalog: Catalog
    """The components that flows can be built of."""
    current_flow: Callable[[], Flow]
    """Returns the flow as it is now."""
    default_model: str | None = None
    """`provider/name` of a configured model for steps that need one; None when there is none."""
    flows: tuple[str, ...] | None = None
    """Names of the published flows that the user may run; None where they are not known."""
    sample: Sample | None = None
    """The file that came with the request, where it can be looked at."""

    def look(self, name: str, content: bytes) -> None:
        """Look at a file that comes with the request, before it is understood."""
        self.sample = look(name, content)

    def intent_of(self, text: str) -> Intent:
        """The intent of a request, by the builder's own understanding."""
        intent = self._understood(text).intent
        return "build_flow" if intent == "edit_flow" else intent

    async def begin(self, request: str) -> Work:
        """Understand a request, and try on a sample what would be built."""
        understanding = await try_out(self._understood(request), self.catalog, self.sample)
        return Work(understanding, list(understanding.actions), self.catalog, self.current_flow, self.current_flow())

    def _understood(self, text: str) -> Understanding:
        return understand(text, self.catalog, self.current_flow(), self.default_model, self.sample, self.flows)


def facts(flow: Flow, catalog: Catalog, language: Language) -> list[str]:
    """The steps, policies and limits that `messages.txt` has a sentence for, one line each."""
    lines = [line for node in flow.nodes for line in _of_node(node, catalog, language)]
    branches = [_branch(edge, language) for edge in flow.edges if edge.output in {"timeout", "error"}]
    settings = changed_members(flow.settings, FlowSettings())
    return [
        *lines,
        *branches,
        *(line for name, value in settings.items() for line in _sentences("", name, value, language)),
    ]


def _of_node(node: Node, catalog: Catalog, language: Language) -> Iterator[str]:
    template = catalog.template(node.type, node.params)
    if template is not None and known(f"fact_{node.type}", language):
        values = {field.name: node.params.get(field.name, field.default) for field in template.fields}
        yield message(f"fact_{node.type}", language, **{**values, "id": node.id})
    model = node.params.get("model")
    members = {"fallback": model["fallback"]} if isinstance(model, dict) and "fallback" in model else {}
    for name, value in (members | changed_members(node.policy, StepPolicy())).items():
        yield from _sentences(node.id, name, value, language)


def _sentences(node_id: str, name: str, value: JsonValue, language: Language) -> Iterator[str]:
    key = next((key for key in (f"fact_{name}_{value}", f"fact_{name}") if known(key, language)), None)
    if key is not None:
        yield message(key, language, id=node_id, value=_shown(value))


def _shown(value: JsonValue) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items() if each is not None)
    return (
        ", ".join(map(_shown, value))
        if isinstance(value, list)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _branch(edge: Edge, language: Language) -> str:
    return message(f"fact_edge_{edge.output}", language, id=edge.source, target=edge.target)
