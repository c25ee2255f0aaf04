"""The working copy of a flow that a toolkit acts on, for the length of one request."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.features.flows.readiness.answer import Readiness
from headgate.features.flows.readiness.check import check
from headgate.features.flows.readiness.environment import Environment
from headgate.features.workspace.user_workspace import UserWorkspace
from headgate.graph.layout import keep_arranged
from headgate.graph.model import Flow
from headgate.sdk.outside import Marks, mark
from headgate.toolkit import actions
from headgate.toolkit.actions import Action
from headgate.toolkit.cache import ReadCache
from headgate.toolkit.outgoing import reads_outside
from headgate.toolkit.outside import OutsideGate
from headgate.toolkit.ports import ComponentMaker, Runner, RunOutcome, StoredFlow
from headgate.toolkit.proof import diff_lines, validation
from headgate.toolkit.repeats import CallLedger
from headgate.toolkit.watch import Unwatched, Watch


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
    files: UserWorkspace | None = None
    stored: StoredFlow | None = None
    save: Callable[[Flow], Awaitable[bool]] | None = None
    """Stores the flow as its draft; whether it was not stored as it is. None where the flow is nobody's draft."""
    on_action: Callable[[Action], None] = lambda _action: None
    on_file: Callable[[dict[str, JsonValue]], None] = lambda _written: None
    """Told of a written file: `action` (`write_file`, `edit_file`), `path`, `size` in bytes, `content` when whole."""
    actions: list[Action] = field(default_factory=list)
    """What was done to the flow, in order; the one that stands for a change has its `diff` and its `validation`."""
    proposals: list[Action] = field(default_factory=list)
    """Edits of fields that were proposed and wait for a person; the flow does not hold them."""
    plan: str = ""
    """The plan that was proposed, in Markdown; the turn then waits for a person."""
    history: list[tuple[Flow, int | None]] = field(default_factory=list)
    """The flow before each change, and what `restores` was then."""
    restores: int | None = None
    """The stored revision whose draft the flow is, after an undo of what is stored."""
    runs: list[RunOutcome] = field(default_factory=list)
    ran_after: list[tuple[str, int]] = field(default_factory=list)
    """Each run, and how many actions there had been when it began."""
    flow_run: Flow | None = None
    """The flow that was run last, as it then was."""
    not_run: str = ""
    """Why a run of the flow as it is was refused before it began; empty when none was."""
    component: ProposedComponent | None = None
    """The component that was proposed and waits for its user; it is not stored."""
    environment: Environment | None = None
    """What the space offers flows; None where that is not known."""
    outside: OutsideGate = field(default_factory=OutsideGate)
    """What the request read from outside, and which calls that refused."""
    watch: Watch = field(default_factory=Unwatched)
    reads: ReadCache = field(init=False, default_factory=ReadCache)
    calls: CallLedger = field(init=False, default_factory=CallLedger)
    opened: Flow = field(init=False)
    """The flow as it was when the request began."""
    _touched: int = field(init=False, default=0)
    _whole_since: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.opened = self.flow

    @property
    def state(self) -> object:
        """Equal as long as nothing that a tool may read was changed."""
        return self._touched, self.registry

    @property
    def pending(self) -> bool:
        """Whether the flow stems from a whole new one, which a person must still take over."""
        return self._whole_since is not None

    def touch(self) -> None:
        """Something that tools read was changed: reading it again is no repetition."""
        self._touched += 1

    def change(
        self,
        flow: Flow,
        done: Action,
        *,
        before: Iterable[Action] = (),
        after: Iterable[Action] = (),
        restores: int | None = None,
    ) -> None:
        """Take a new state of the flow and tell what was done, with the proof of it.

        Args:
            flow: The flow from now on.
            done: What was done; it bears the proof.
            before: What a canvas must be told first.
            after: What it must be told then.
            restores: The stored revision whose draft it is.
        """
        if self._whole_since is None and done["action"] == "set_flow" and not done.get("auto_apply"):
            self._whole_since = len(self.history)
        self.history.append((self.flow, self.restores))
        self.restores = restores
        self._take(flow, *before, self._proven(done, flow), *after)

    def undo(self) -> bool:
        """Go back to the flow before the last change; False when there was none."""
        if not self.history:
            return False
        flow, self.restores = self.history.pop()
        if self._whole_since is not None and len(self.history) <= self._whole_since:
            self._whole_since = None
        self._take(flow, self._proven(actions.set_flow(flow, applies=not self.pending, undone=True), flow))
        return True

    def keep_arranged(self) -> None:
        """Arrange the nodes anew where those of the request's beginning were arranged; `graph.layout.keep_arranged`."""
        arranged = keep_arranged(self.opened, self.flow, self.registry)
        if self.flow_run == self.flow:
            self.flow_run = arranged
        self.flow = arranged

    def propose(self, action: Action, flow: Flow) -> None:
        """Tell of an edit that a person may accept; `flow` is what it would make of the flow, which stays as it is."""
        told = self._proven(action, flow)
        self.proposals.append(told)
        self.touch()
        self.on_action(told)

    def propose_plan(self, markdown: str) -> None:
        """Tell of a plan that a person may approve."""
        self.plan = markdown
        self.on_action(actions.propose_plan(markdown))

    def propose_component(self, proposed: ProposedComponent) -> None:
        """Report a component that its user may accept; nothing of it is stored."""
        self.component = proposed
        self.on_action(actions.propose_component(proposed))

    @property
    def waiting(self) -> str:
        """What was proposed and must be decided before anything else changes; empty when nothing was."""
        return "plan" if self.plan else "component" if self.component is not None else ""

    def learn(self, made: CheckedComponent) -> None:
        """Take a component that was saved into this request's catalogue."""
        self.registry = self.registry.with_own(made)

    def ran(self, outcome: RunOutcome, flow: Flow) -> None:
        """Keep what a run of a flow came to. The run saved it: it is no proposal any more."""
        self.runs.append(outcome)
        self.outside.add(self.marks_of(outcome), flow)
        self.ran_after.append((outcome.run_id, len(self.actions)))
        self.flow_run, self.not_run = flow, ""
        self._whole_since = None
        self.on_action(actions.flow_ran(outcome.run_id, outcome.status, flow))

    def saved(self, flow: Flow) -> None:
        """The flow was stored, for its tests: it is no proposal any more."""
        self._whole_since = None
        self.on_action(actions.flow_saved(flow))

    def marks_of(self, outcome: RunOutcome) -> Marks:
        """Where the content of a run comes from. Its error may quote what a step read from outside."""
        quotes = outcome.error and reads_outside(self.flow, self.registry)
        return outcome.outside or ((mark("run"),) if quotes else ())

    def _proven(self, action: Action, flow: Flow) -> Action:
        """The action with what it changes and whether the flow would run then."""
        lines: list[JsonValue] = list(diff_lines(self.flow, flow, self.registry))
        return action | {"diff": lines, "validation": validation(self.check(flow))}

    def check(self, flow: Flow) -> Readiness:
        """Whether a flow can run, with everything that prevents it."""
        return check(flow, self.registry, self.environment)

    def _take(self, flow: Flow, *done: Action) -> None:
        self.flow, self.not_run = flow, ""
        self.touch()
        for action in done:
            self.actions.append(action)
            self.on_action(action)

    def may(self, permission: Permission) -> bool:
        """Whether the one who works here has a permission in the flow's space."""
        return self.principal.may(permission, self.space_id)

    @property
    def changed(self) -> bool:
        """Whether anything was done to the flow in this request."""
        return bool(self.actions)
