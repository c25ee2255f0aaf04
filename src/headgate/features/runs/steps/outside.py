"""Untrusted content at one step: what reached it, and which calls it must not determine.

Marks are added where content enters: an HTTP response, a file, a tool of an MCP server, a visitor's text. Checks are
made where calls leave, so they hold for every component, including future ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.features.runs.errors import OutsideContentRefused
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.destinations import (
    chosen_by_author,
    chosen_by_clean_values,
    host_listed,
    named_by_author,
    named_by_clean_values,
)
from headgate.features.runs.steps.planned import PlannedStep
from headgate.graph.context import build_context
from headgate.graph.interpolate import references_in, texts_in
from headgate.graph.mentions import mentions, policy_mentions
from headgate.graph.model import InputSource, Node
from headgate.graph.plan import Attachment
from headgate.graph.wiring import FLOW_INPUT
from headgate.sdk import RunInput
from headgate.sdk.outside import Marks, current_model_call, in_words, mark, merged

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_CHAT_INPUTS = frozenset({"ChatInput", "TextInput", "FormInput", "FileInput"})
"""Components that read the run's input and never the chat before it."""


class OutsideContent:
    """Untrusted content that reached a step, and the checks on its calls.

    Args:
        run: The run; its ledger has the marks of earlier steps.
        step: The step.
    """

    def __init__(self, run: ActiveRun, step: PlannedStep) -> None:
        self._run = run
        self._step = step
        self._policy = step.step.policy
        self.arrived = self._arrived()
        self._gained: set[str] = set()
        self._descriptions: set[str] = set()
        self._bases: list[str] = []

    @property
    def marks(self) -> Marks:
        """Return the origins of all content that reached the step so far."""
        return merged(self.arrived, self._gained, self._descriptions)

    def add(self, *marks: str) -> None:
        """Record content that reached the step while it runs."""
        self._gained.update(marks)
        call = current_model_call()
        if call is not None:
            call.marks.update(marks)

    def describe(self, server: str) -> None:
        """Record that a model reads a server's descriptions of its tools."""
        self._descriptions.add(mark("description", server))

    def complete(self, base: str) -> None:
        """Record the address of a connection, which completes paths that the author wrote."""
        if base:
            self._bases.append(base.rstrip("/"))

    def of_field(self, name: str) -> Marks:
        """Return the origins of one field's content."""
        marks: list[Marks] = []
        for inlet in self._step.inlets:
            if inlet.field == name and not inlet.overridden:
                marks += [self._of_step(feed.source) for feed in inlet.feeds if self._run.ledger.alive(feed)]
        roots = [reference.root for reference in references_in(self._step.step.node.params.get(name))]
        roots += [reference.root for reference in references_in(self._policy.input_bindings.get(name, ""))]
        marks += [self.of_root(root) for root in roots]
        main = self._step.step.template.main_field
        if main is not None and main.name == name and self._policy.input_source is not InputSource.PREVIOUS_STEP:
            marks += [self.arrived, tuple(self._gained)]
        return merged(*marks)

    def of_root(self, root: str) -> Marks:
        """Return the origins of the value of a reference's root."""
        if root == FLOW_INPUT:
            return self._run.input.outside
        ancestors = self._run.planned.plan.ancestors(self._step.id)
        if root in ancestors:
            return self._of_step(root)
        return merged(
            *(self._of_step(ancestor) for ancestor in ancestors if self._run.planned.plan.step(ancestor).alias == root)
        )

    def of_input(self, run_input: RunInput) -> Marks:
        """Return the marks of the run's input, for a component that reads it."""
        return (
            run_input.outside
            if self._step.step.node.type in _CHAT_INPUTS
            else merged(run_input.outside, run_input.chat_outside)
        )

    def of_file(self, file_id: str, name: str) -> Marks:
        """Return the origins of a file's content; for a file created in this run, those of its step."""
        maker = self._run.ledger.made.get(file_id)
        return self._of_step(maker) if maker is not None else (mark("file", name),)

    def of_outputs(self, text: bytes) -> Marks:
        """Return the marks of the run's uploads that outputs name: file names are untrusted text too."""
        return merged(mark("file", file.name) for file in self._run.input.files if file.id.encode() in text)

    def check_request(self, method: str, url: str, *, delivery: bool = False) -> None:
        """Raise `OutsideContentRefused` for a request that untrusted content would determine.

        A fixed step may send such content to an address that its author chose, but the content must not choose the
        address. A model that has read such content may only read, and only from addresses chosen without it.
        """
        call = current_model_call()
        marks = self._deciding("") if call is not None else self.marks if delivery else self.arrived
        host = urlsplit(url).hostname or ""
        if not marks or self._allows(call.tool if call is not None else "", host):
            return
        reads = call is None or method.upper() in _SAFE_METHODS
        if reads and self._chosen(url, whole=call is not None):
            return
        description = f"a {method.upper()} request to '{host or url[:120]}'"
        raise self._refusal(description, marks, f"'{host}'" if call is None else f"'{call.tool}' or '{host}'")

    def check_effect(self, server: str, destinations: Sequence[str] = ()) -> None:
        """Raise `OutsideContentRefused` for an effect on the server of a connection that untrusted content decides.

        A fixed step may send such content to destinations that its author chose; a model that has read such content
        has no effects.

        Args:
            server: The host of the connection.
            destinations: What else says where the effect goes: addresses of recipients, the name of a table.
        """
        call = current_model_call()
        marks = self._deciding("") if call is not None else self.marks
        if not marks or self._allows(call.tool if call is not None else "", server):
            return
        if call is not None:
            raise self._refusal(f"the call of '{call.tool}'", marks, f"'{call.tool}' or '{server}'")
        context = self._context()
        values = self._texts(), context, lambda root: not self.of_root(root)
        names = named_by_author(*values) | named_by_clean_values(self._clean_values(context))
        unnamed = next((name for name in destinations if name.strip().lower() not in names), None)
        if unnamed is not None:
            raise self._refusal(f"its call to '{server}' for '{unnamed[:120]}'", marks, f"'{server}'")

    def check_tool(self, name: str, server: str, *, reads: bool) -> None:
        """Raise `OutsideContentRefused` for a call of a server's tool that may change something."""
        marks = self._deciding(server) if current_model_call() is not None else self.arrived
        if marks and not reads and not self._allows(name, ""):
            raise self._refusal(f"the call of '{name}'", marks, f"'{name}'")

    def check_code(self, hosts: Sequence[str]) -> None:
        """Raise `OutsideContentRefused` for custom code with a network that a model calls."""
        call = current_model_call()
        if call is None or not hosts or not self._deciding(""):
            return
        if not self._allows(call.tool, "") and not all(self._allows("", host) for host in hosts):
            raise self._refusal(f"the call of '{call.tool}'", self._deciding(""), f"'{call.tool}'")

    def _deciding(self, server: str) -> Marks:
        """Return the marks of what a model has read. A server's own descriptions do not block its own tools."""
        return merged(self.arrived, self._gained, self._descriptions - {mark("description", server)})

    def _allows(self, tool: str, host: str) -> bool:
        if self._policy.outside_content == "allow":
            return True
        allowlist = self._policy.outside_allowlist
        return (bool(tool) and tool in allowlist) or (bool(host) and host_listed(host, allowlist))

    def _context(self) -> Mapping[str, JsonValue]:
        return build_context(self._run.input, self._run.ledger.results, self._run.planned.plan, self._step.id)

    def _chosen(self, url: str, *, whole: bool) -> bool:
        context = self._context()
        return chosen_by_author(url, self._texts(), context, lambda root: not self.of_root(root)) or (
            chosen_by_clean_values(url, self._clean_values(context), whole=whole)
        )

    def _texts(self) -> Iterator[str]:
        """Return every text of the step and its attachments, as saved."""
        for node in _nodes(self._step.step.node, self._step.step.attachments):
            for value in node.params.values():
                for text in texts_in(value):
                    yield text
                    if text.strip().startswith("/"):
                        yield from (f"{base}{text.strip()}" for base in self._bases)
            calls = (node.policy.input_config, node.policy.output_config)
            yield from (call.url for call in calls if call is not None)
            yield from node.policy.input_bindings.values()

    def _clean_values(self, context: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
        """Return the values that reached the step without untrusted content."""
        for inlet in self._step.inlets:
            for feed in inlet.feeds:
                if self._run.ledger.alive(feed) and not self._of_step(feed.source):
                    yield self._run.ledger.results[feed.source][feed.output]
        for root in self._roots():
            if root in context and not self.of_root(root):
                yield context[root]

    def _arrived(self) -> Marks:
        if not (self._run.ledger.outside or self._run.input.outside):
            return ()  # most runs; skip the lookup
        marks = [self._of_step(parent) for parent in self._step.step.parents if self._brings(parent)]
        marks += [self.of_root(root) for root in self._roots()]
        if self._policy.input_source is InputSource.ALL_PREVIOUS_STEPS:
            marks += [self._of_step(ancestor) for ancestor in self._run.planned.plan.ancestors(self._step.id)]
        if self._policy.input_source is InputSource.FLOW_INPUT:
            marks.append(self._run.input.outside)
        return merged(*marks)

    def _brings(self, parent: str) -> bool:
        return any(
            feed.source == parent and self._run.ledger.alive(feed)
            for inlet in self._step.inlets
            for feed in inlet.feeds
        )

    def _roots(self) -> set[str]:
        nodes = _nodes(self._step.step.node, self._step.step.attachments)
        roots = {mention.reference.root for node in nodes for mention in mentions(node)}
        return roots | {mention.reference.root for mention in policy_mentions(self._policy) if not mention.own_output}

    def _of_step(self, step_id: str) -> Marks:
        return self._run.ledger.outside.get(step_id, ())

    def _refusal(self, description: str, marks: Marks, names: str) -> OutsideContentRefused:
        return OutsideContentRefused(
            f"Step '{self._step.id}' did not make {description}: content from outside ({in_words(marks)}) would "
            "have decided it.",
            remedy=f"To allow it, add {names} to 'outside_allowlist' in the step's policy.",
            outside=list(marks),
        )


def _nodes(node: Node, attachments: Sequence[Attachment]) -> Iterator[Node]:
    """Return a step's node and every node attached to it."""
    yield node
    for attachment in attachments:
        yield from _nodes(attachment.node, attachment.attachments)
