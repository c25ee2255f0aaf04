"""The working copy of a flow that tools act on during one request."""

from collections import Counter
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
from headgate.graph.issues import Issue, IssueCode
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
    """A flow being edited, and its user. Each tool replaces `flow` with a new value and reports its actions.

    It lives for one request. Its creator provides `runner` to run flows, `maker` to make components and `files` for the
    user's workspace; tools without their resource refuse. `on_action` receives each change and proposal, `on_file` each
    written file.
    """

    principal: Principal
    space_id: str
    """The space of the flow."""
    flow: Flow
    registry: Overlay
    runner: Runner | None = None
    maker: ComponentMaker | None = None
    files: UserWorkspace | None = None
    stored: StoredFlow | None = None
    save: Callable[[Flow], Awaitable[bool]] | None = None
    """Stores the flow as its draft; returns whether it differed from the stored one. None without a draft."""
    on_action: Callable[[Action], None] = lambda _action: None
    on_file: Callable[[dict[str, JsonValue]], None] = lambda _written: None
    """Receives a written file: `action` (`write_file`, `edit_file`), `path`, `size`, `content` when complete."""
    actions: list[Action] = field(default_factory=list)
    """Actions on the flow, in order; an action that changes it has `diff` and `validation`."""
    proposals: list[Action] = field(default_factory=list)
    """Proposed field edits that wait for a user; the flow does not contain them."""
    plan: str = ""
    """The proposed plan, in Markdown; the turn then waits for a user."""
    history: list[tuple[Flow, int | None]] = field(default_factory=list)
    """The flow before each change, and the value of `restores` then."""
    created: list[tuple[str, Flow]] | None = None
    """Flows with their ids that are to be stored together with this one. None: a tool stores them at once."""
    restores: int | None = None
    """The stored revision whose draft the flow is, after an undo of stored changes."""
    runs: list[RunOutcome] = field(default_factory=list)
    ran_after: list[tuple[str, int]] = field(default_factory=list)
    """Each run, and the number of actions when it started."""
    flow_run: Flow | None = None
    """The flow of the last run, as it was then."""
    not_run: str = ""
    """Why a run of the current flow was refused before it started; empty when none was."""
    component: ProposedComponent | None = None
    """The proposed component that waits for its user; it is not stored."""
    environment: Environment | None = None
    """The environment of the space; None if unknown."""
    outside: OutsideGate = field(default_factory=OutsideGate)
    """Untrusted content that the request has read, and the calls that it blocked."""
    watch: Watch = field(default_factory=Unwatched)
    reads: ReadCache = field(init=False, default_factory=ReadCache)
    calls: CallLedger = field(init=False, default_factory=CallLedger)
    opened: Flow = field(init=False)
    """The flow at the start of the request."""
    _touched: int = field(init=False, default=0)
    _whole_since: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.opened = self.flow

    @property
    def state(self) -> object:
        """Equal as long as nothing that a tool may read has changed."""
        return self._touched, self.registry

    @property
    def pending(self) -> bool:
        """Whether the flow derives from a completely new one, which a user must still accept."""
        return self._whole_since is not None

    def touch(self) -> None:
        """Record that something tools read has changed: reading it again is not a repetition."""
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
        """Replace the flow and report the change, with its proof.

        Args:
            flow: The flow from now on.
            done: What was done; it bears the proof.
            before: What a canvas must receive first.
            after: What it must receive then.
            restores: The stored revision whose draft it is.
        """
        if self._whole_since is None and done["action"] == "set_flow" and not done.get("auto_apply"):
            self._whole_since = len(self.history)
        self.history.append((self.flow, self.restores))
        self.restores = restores
        self._take(flow, *before, self._proven(done, flow), *after)

    def undo(self) -> bool:
        """Restore the flow before the last change; False when there was none."""
        if not self.history:
            return False
        flow, self.restores = self.history.pop()
        if self._whole_since is not None and len(self.history) <= self._whole_since:
            self._whole_since = None
        self._take(flow, self._proven(actions.set_flow(flow, applies=not self.pending, undone=True), flow))
        return True

    def keep_arranged(self) -> None:
        """Rearrange the nodes if the request started with an automatic layout; see `graph.layout.keep_arranged`."""
        arranged = keep_arranged(self.opened, self.flow, self.registry)
        if self.flow_run == self.flow:
            self.flow_run = arranged
        self.flow = arranged

    def propose(self, action: Action, flow: Flow) -> None:
        """Report an edit that a user may accept; `flow` is the flow after it. The working flow does not change."""
        proposal = self._proven(action, flow)
        self.proposals.append(proposal)
        self.touch()
        self.on_action(proposal)

    def propose_plan(self, markdown: str) -> None:
        """Report a plan that a user may approve."""
        self.plan = markdown
        self.on_action(actions.propose_plan(markdown))

    def propose_component(self, proposed: ProposedComponent) -> None:
        """Report a component that its user may accept; nothing of it is stored."""
        self.component = proposed
        self.on_action(actions.propose_component(proposed))

    @property
    def waiting(self) -> str:
        """The proposal that must be decided before anything else changes; empty without one."""
        return "plan" if self.plan else "component" if self.component is not None else ""

    def learn(self, made: CheckedComponent) -> None:
        """Add a saved component to this request's catalog."""
        self.registry = self.registry.with_own(made)

    def ran(self, outcome: RunOutcome, flow: Flow) -> None:
        """Record the outcome of a run. The run saved the flow: it is no longer a proposal."""
        self.runs.append(outcome)
        self.outside.add(self.marks_of(outcome), flow)
        self.ran_after.append((outcome.run_id, len(self.actions)))
        self.flow_run, self.not_run = flow, ""
        self._whole_since = None
        self.on_action(actions.flow_ran(outcome.run_id, outcome.status, flow))

    def saved(self, flow: Flow) -> None:
        """Record that the flow was stored for its tests: it is no longer a proposal."""
        self._whole_since = None
        self.on_action(actions.flow_saved(flow))

    def marks_of(self, outcome: RunOutcome) -> Marks:
        """Return the origins of a run's content. Its error may quote what a step read from outside."""
        quotes = outcome.error and reads_outside(self.flow, self.registry)
        return outcome.outside or ((mark("run"),) if quotes else ())

    def _proven(self, action: Action, flow: Flow) -> Action:
        """Return the action with its changes and the readiness of the flow."""
        lines: list[JsonValue] = list(diff_lines(self.flow, flow, self.registry))
        return action | {"diff": lines, "validation": validation(self.check(flow))}

    def check(self, flow: Flow) -> Readiness:
        """Return whether a flow can run, with everything that prevents it."""
        return check(flow, self.registry, self.environment)

    def issues_since(self, before: Flow) -> list[Issue]:
        """Return what prevents a run now and did not before. Nodes that are not connected yet are none."""
        earlier, issues = self.check(before).issues, self.check(self.flow).issues
        more = Counter((issue.code, issue.field) for issue in issues)
        more.subtract((issue.code, issue.field) for issue in earlier)
        return [
            issue
            for issue in issues
            if more[issue.code, issue.field] > 0 and issue not in earlier and issue.code is not IssueCode.ORPHAN
        ]

    def _take(self, flow: Flow, *done: Action) -> None:
        self.flow, self.not_run = flow, ""
        self.touch()
        for action in done:
            self.actions.append(action)
            self.on_action(action)

    def may(self, permission: Permission) -> bool:
        """Whether the user has a permission in the flow's space."""
        return self.principal.may(permission, self.space_id)

    @property
    def changed(self) -> bool:
        """Whether this request changed the flow."""
        return bool(self.actions)
