"""Stores and runs the flow of a turn through the flows and runs services, with the user's rights."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from headgate.agents.assistant.errors import NoRoomForFlow
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Again, Principal
from headgate.features.accounts.spaces import service as spaces
from headgate.features.catalog.registry import Registry
from headgate.features.files import service as files
from headgate.features.files.storage import Storage
from headgate.features.flows import service as flows
from headgate.features.flows import versions
from headgate.features.flows.readiness.check import check
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.rules import FlowRules
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.quoting import quoted
from headgate.graph.contracts import FILE_TYPES
from headgate.graph.diff import is_replaced
from headgate.graph.model import Flow
from headgate.sdk.outside import Marks
from headgate.toolkit.ports import RunEvent, RunOutcome, RunsFlows
from headgate.toolkit.running import LONGEST_WAIT_SECONDS

_GIVEN_OPENING = "[Input that the user gave for the run; run_flow uses it where you give no other (quoted data):"
_GIVEN_CLOSING = "[End of input for the run]"


@dataclass(frozen=True, slots=True)
class RunInput:
    """Input of a run that came with the request: a model need not repeat it."""

    text: str = ""
    form: Mapping[str, JsonValue] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Id to name of each file; every run of the turn gets them."""
    requested: bool = False
    """Whether to run the flow, whatever the request says."""

    def as_block(self) -> str:
        """Return a block for a model, followed by a blank line; empty without input."""
        parts = [f"text: {self.text}"] if self.text else []
        parts += [f"form answer {name}: {value}" for name, value in self.form.items()]
        parts += [f"file: {name}, file_id {file_id}" for file_id, name in self.files.items()]
        if not parts and not self.requested:
            return ""
        asked = "The user wants the flow to be run in this turn." if self.requested else ""
        given = quoted(_GIVEN_OPENING, "\n".join(parts), _GIVEN_CLOSING) if parts else ""
        return f"{asked}\n{given}".strip() + "\n\n"


_LONGEST_LOOK = 2_000_000
"""Bytes of a file that the offline builder inspects."""


@dataclass(slots=True)
class TurnFlow:
    """The stored flow that a turn works on. It is written only when it is run or when the user requested it."""

    database: Database
    registry: Registry
    principal: Principal
    runs: RunsFlows
    rules: FlowRules | None = None
    on_event: RunEvent = lambda _run_id, _kind, _data: None
    space_id: str = ""
    """The space of the flow, or of a new one."""
    file_ids: tuple[str, ...] = ()
    given: RunInput = field(default_factory=RunInput)
    """Default input of the turn's runs."""
    storage: Callable[[], Storage] | None = None
    """Storage of these files; None: they are not inspected."""
    flow_id: str | None = None
    revision: int | None = None
    stored: Flow | None = None
    kept_version: int | None = None
    """The version that preserves a draft which this turn replaced."""
    again: Again | None = None
    """Returns the user's current rights. A turn takes minutes: they are checked before each change."""

    async def open(self, flow_id: str | None) -> None:
        """Open a stored flow, or prepare a new one. Raises `FlowNotFound`, `PermissionMissing`."""
        if flow_id is None:
            await self._make_room()
            return
        async with self.database.reading() as session:
            row = await flows.get_flow(session, self.principal, flow_id, permission=Permission.FLOWS_EDIT)
        self.flow_id, self.space_id, self.revision, self.stored = (
            row.id,
            row.space_id,
            row.revision,
            flows.definition_of(row),
        )

    async def _make_room(self) -> None:
        """A new flow goes to the space that the asker is at home in. Raises `NoRoomForFlow`."""
        self.space_id = self.principal.space_id
        if self.principal.sees(self.space_id) and self.principal.may(Permission.FLOWS_EDIT, self.space_id):
            return
        name = ""
        with suppress(HeadgateError):
            async with self.database.reading() as session:
                name = (await spaces.get_space(session, self.principal, self.space_id)).name
        raise NoRoomForFlow(name)

    async def environment(self, flow: Flow) -> Environment | None:
        """Return the current environment of the flow in its space; None if unknown."""
        if self.rules is None:
            return None
        return await self.rules.environment(self.principal.tenant_id, self.space_id, flow=flow)

    async def attached(self) -> list[tuple[str, bytes]]:
        """Return name and content of the first attached file, if it is small enough to inspect."""
        if not self.file_ids or self.storage is None:
            return []
        async with self.database.reading() as session:
            row = (await files.get_files(session, self.principal, self.file_ids[:1]))[0]
        return [(row.name, await files.read_content(self.storage(), row))] if row.size_bytes <= _LONGEST_LOOK else []

    async def save(self, flow: Flow, *, restores: int | None = None) -> bool:
        """Store the flow: as a new one, or as the next revision of the one that was opened; see `flows.save_draft`.

        Returns whether it differed from the stored one. Raises `StaleRevision` when another user changed it meanwhile;
        then nothing is overwritten. A turn that is stopped meanwhile ends after the write is complete.
        """
        if flow == self.stored:
            return False
        await self._ask_again()
        await shielded(self._store(flow, restores))
        return True

    async def _store(self, flow: Flow, restores: int | None) -> None:
        async with self.database.writing() as session:
            if self.flow_id is None or self.revision is None:
                row = await flows.create_flow(
                    session, self.principal, self.registry, definition=flow, space_id=self.space_id
                )
            else:
                if self.stored is not None and is_replaced(self.stored, flow):
                    version = await versions.keep_draft(session, self.principal, self.registry, self.flow_id)
                    self.kept_version = version.version
                row = await flows.save_draft(
                    session,
                    self.principal,
                    self.registry,
                    self.flow_id,
                    revision=self.revision,
                    definition=flow,
                    restores=restores,
                )
        self.flow_id, self.revision, self.stored = row.id, row.revision, flow

    async def run(
        self,
        flow: Flow,
        *,
        text: str,
        form: Mapping[str, JsonValue],
        file_ids: tuple[str, ...] = (),
        outside: Marks = (),
    ) -> RunOutcome:
        """Save and run it. A flow that cannot run is refused before it is saved."""
        known = await self.registry.for_flow(self.principal.tenant_id, flow)
        environment = await self.environment(flow)
        (await run_in_flow_thread(check, flow, known, environment)).require()
        await self.save(flow)
        await self._ask_again()
        return await self.runs.run_draft(
            self.principal,
            self.flow_id or "",
            text=text or self.given.text,
            form=with_only_file(flow, {**self.given.form, **form}, self.file_ids),
            file_ids=tuple(dict.fromkeys((*self.file_ids, *file_ids))),
            on_event=self.on_event,
            outside=outside,
            until_waiting=True,
            longest_wait_seconds=LONGEST_WAIT_SECONDS,
        )

    async def _ask_again(self) -> None:
        """Raise `Unauthenticated` when the credentials of the request are no longer valid."""
        if self.again is not None:
            self.principal = await self.again()


def with_only_file(flow: Flow, form: dict[str, JsonValue], file_ids: tuple[str, ...]) -> dict[str, JsonValue]:
    """Return the form's answers; the only unanswered file field gets the only remaining file."""
    unanswered = [question.id for question in flow.form if question.type in FILE_TYPES and question.id not in form]
    left = [file_id for file_id in file_ids if file_id not in form.values()]
    return {**form, unanswered[0]: left[0]} if len(unanswered) == len(left) == 1 else form


async def shielded(work: Coroutine[Any, Any, None]) -> None:
    """Complete an operation even if its caller is cancelled; then propagate the cancellation."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
