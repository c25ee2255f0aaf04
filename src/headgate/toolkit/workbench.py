"""The working copy of a flow that a toolkit acts on, for the length of one request."""

from collections.abc import Awaitable, Callable, Mapping
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


Envelope = dict[str, JsonValue]
"""What a file tool answers: `status` and what it found, or `error` and `path` (seed 003)."""
FileTool = Callable[..., Awaitable[Envelope]]


class PersonalFiles(Protocol):
    """The sandboxed workspace of the person who works here (seed 003). Its tools never raise."""

    @property
    def read_file(self) -> FileTool:
        """Read lines of a text file."""
        ...

    @property
    def write_file(self) -> FileTool:
        """Write a whole file."""
        ...

    @property
    def edit_file(self) -> FileTool:
        """Replace text in a file."""
        ...

    @property
    def glob_search(self) -> FileTool:
        """Find files by name."""
        ...

    @property
    def grep_search(self) -> FileTool:
        """Find files by content."""
        ...


@dataclass(slots=True)
class Workbench:
    """A flow being worked on, and who works on it. Each tool replaces `flow` with a new value and tells what it did.

    It lives for one request. Who makes one sets what the request has: `runner` to run flows, `maker` to make
    components, `files` for the person's workspace; tools of what is missing refuse. `on_action` is told of each change
    and proposal when it happens, `on_file` of each file that was written.
    """

    principal: Principal
    space_id: str
    """The space that the flow is in, or that it will be in."""
    flow: Flow
    registry: Overlay
    runner: Runner | None = None
    maker: ComponentMaker | None = None
    files: PersonalFiles | None = None
    on_action: Callable[[Action], None] = lambda _action: None
    on_file: Callable[[dict[str, JsonValue]], None] = lambda _written: None
    """Told of a written file: `action` (`write_file`, `edit_file`), `path`, `size` in bytes, `content` when whole."""
    actions: list[Action] = field(default_factory=list)
    """What was done to the flow, in order."""
    proposals: list[Action] = field(default_factory=list)
    """Edits of fields that were proposed and wait for a person; the flow does not hold them."""
    plan: str = ""
    """The plan that was proposed, in Markdown; the turn then waits for a person."""
    history: list[Flow] = field(default_factory=list)
    runs: list[RunOutcome] = field(default_factory=list)

    def change(self, flow: Flow, *actions: Action) -> None:
        """Take a new state of the flow and tell what was done."""
        self.history.append(self.flow)
        self.flow = flow
        for action in actions:
            self.actions.append(action)
            self.on_action(action)

    def propose(self, action: Action) -> None:
        """Tell of an edit that a person may accept; the flow stays as it is."""
        self.proposals.append(action)
        self.on_action(action)

    def propose_plan(self, action: Action) -> None:
        """Tell of a plan that a person may approve."""
        self.plan = str(action["markdown"])
        self.on_action(action)

    def may(self, permission: Permission) -> bool:
        """Whether the one who works here has a permission in the flow's space."""
        return self.principal.may(permission, self.space_id)

    @property
    def changed(self) -> bool:
        """Whether anything was done to the flow in this request."""
        return bool(self.actions)
