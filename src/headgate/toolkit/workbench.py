"""The working copy of a flow that a toolkit acts on, for the length of one request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.overlay import Overlay
from headgate.graph.model import Flow
from headgate.toolkit.actions import Action


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run came to, read back from its stored results."""

    run_id: str
    status: str
    outputs: dict[str, JsonValue]
    """Final step to its main output: text, or a short preview of it."""
    files: list[dict[str, JsonValue]]
    """Artifacts the run made: id, name, media type, size in bytes."""
    error: str = ""
    duration_ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Runner(Protocol):
    """Runs a working flow: it is saved, pinned to a version and executed like any other run."""

    async def run(self, flow: Flow, *, text: str, form: Mapping[str, JsonValue]) -> RunOutcome:
        """Run to the end. Raises `FlowInvalid` when the flow cannot run."""
        ...


class ComponentMaker(Protocol):
    """Makes components that are missing: written, scanned, checked in the sandbox, and kept for the person."""

    async def generate(self, description: str) -> CheckedComponent:
        """Let the model write it. Raises `ComponentNotMade` with the last fault when no attempt passed."""
        ...

    async def register(self, code: str) -> CheckedComponent:
        """Check code that somebody wrote, and keep it. Raises `ComponentNotMade` with every finding."""
        ...


@dataclass(slots=True)
class Workbench:
    """A flow being worked on, and who works on it. Each tool replaces `flow` with a new value and tells what it did."""

    principal: Principal
    space_id: str
    """The space that the flow is in, or that it will be in."""
    flow: Flow
    registry: Overlay
    runner: Runner | None = None
    maker: ComponentMaker | None = None
    on_action: Callable[[Action], None] = lambda _action: None
    actions: list[Action] = field(default_factory=list)
    history: list[Flow] = field(default_factory=list)
    runs: list[RunOutcome] = field(default_factory=list)

    def change(self, flow: Flow, *actions: Action) -> None:
        """Take a new state of the flow and tell what was done."""
        self.history.append(self.flow)
        self.flow = flow
        for action in actions:
            self.actions.append(action)
            self.on_action(action)

    def may(self, permission: Permission) -> bool:
        """Whether the one who works here has a permission in the flow's space."""
        return self.principal.may(permission, self.space_id)

    @property
    def changed(self) -> bool:
        """Whether anything was done to the flow in this request."""
        return bool(self.actions)
