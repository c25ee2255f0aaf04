"""A flow's test set: reading, replacing, adding. Every change is made under the lock of its flow, like publishing."""

from collections.abc import Callable, Iterator, Sequence

from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record_of
from headgate.features.files import service as files
from headgate.features.flows.service import definition_of, get_flow
from headgate.features.flows.tables import FlowRow
from headgate.features.runs.form import file_ids_in
from headgate.features.testing import repository
from headgate.features.testing.errors import StaleTests, TestSetInvalid
from headgate.features.testing.tables import TestCaseRow
from headgate.foundation.database import now
from headgate.graph.canonical import sha256_of
from headgate.graph.cases import MOST_CASES, TestCase
from headgate.graph.model import FormField


async def list_cases(session: AsyncSession, principal: Principal, flow_id: str) -> list[TestCase]:
    """Return the test set of a flow, in order. Raises `FlowNotFound`, `PermissionMissing`."""
    await get_flow(session, principal, flow_id, permission=Permission.FLOWS_VIEW)
    return await cases_of(session, flow_id, tenant_id=principal.tenant_id)


async def replace_cases(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    cases: Sequence[TestCase],
    *,
    revision: str | None = None,
) -> Sequence[TestCase]:
    """Replace the test set, if it still has this revision (None: any); return the new set.

    Repeating a replacement is not a conflict. Raises `StaleTests`, `TestSetInvalid`, `FlowNotFound`,
    `PermissionMissing`; then nothing is changed.
    """
    return await _change(session, principal, flow_id, revision, lambda _before: cases)


async def keep_cases(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    cases: Sequence[TestCase],
    *,
    revision: str | None = None,
) -> Sequence[TestCase]:
    """Add these to the test set, replacing those with the same name in place. Otherwise like `replace_cases`."""

    def merged(before: Sequence[TestCase]) -> Sequence[TestCase]:
        return list({case.name: case for case in (*before, *cases)}.values())

    return await _change(session, principal, flow_id, revision, merged)


async def cases_of(session: AsyncSession, flow_id: str, *, tenant_id: str) -> list[TestCase]:
    """Return the test set of a flow after the permission check."""
    rows = await repository.list_cases(session, flow_id, tenant_id=tenant_id)
    return [_case(row) for row in rows]


def checksum_of(cases: Sequence[TestCase]) -> str:
    """Return a checksum of a test set, independent of order. Members with default values are ignored."""
    return sha256_of({case.name: _stored(case) for case in cases})


def revision_of(cases: Sequence[TestCase]) -> str:
    """Return the revision of a test set, including its order, for detecting concurrent changes."""
    return sha256_of([{"name": case.name, **_stored(case)} for case in cases])


def _require_set(cases: Sequence[TestCase]) -> None:
    if len(cases) > MOST_CASES:
        raise TestSetInvalid(f"{len(cases)} tests were sent; a flow has at most {MOST_CASES}.", remedy="Remove some.")
    names: set[str] = set()
    for case in cases:
        if case.name in names:
            raise TestSetInvalid(f"Two tests are named '{case.name}'.", remedy="Give each test a unique name.")
        names.add(case.name)


async def _change(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    revision: str | None,
    change: Callable[[Sequence[TestCase]], Sequence[TestCase]],
) -> Sequence[TestCase]:
    """Change a flow's test set, and publish an event when it differs."""
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    before = await cases_of(session, flow_id, tenant_id=principal.tenant_id)
    cases = change(before)
    _require_set(cases)
    if before == list(cases):
        return cases
    current = revision_of(before)
    if revision is not None and revision != current:
        raise StaleTests(current)
    await _share_files(session, principal, flow, before, cases)
    await _write(session, flow, cases)
    payload = {"tests": [case.name for case in cases], "checksum": checksum_of(cases)}
    earlier = {"tests": [case.name for case in before], "checksum": checksum_of(before)}
    await record_of(session, principal, "flow.tests_changed", flow, before=earlier, after=payload, payload=payload)
    return cases


async def _share_files(
    session: AsyncSession, principal: Principal, flow: FlowRow, before: Sequence[TestCase], cases: Sequence[TestCase]
) -> None:
    """Share the caller's new uploads in a set with the flow's space, like a run that uses them does.

    Files that the set already had stay unchanged, even when they were deleted: their case reports it when it is run.
    Raises `FileNotFound` for a new one that is not visible to the caller.
    """
    form = definition_of(flow).form
    existing = set(_files_of(before, form))
    new = dict.fromkeys(file_id for file_id in _files_of(cases, form) if file_id not in existing)
    if new:
        own_uploads = [row.id for row in await files.get_files(session, principal, [*new]) if row.space_id is None]
        await files.share_uploads(session, principal, own_uploads, space_id=flow.space_id)


def _files_of(cases: Sequence[TestCase], form: Sequence[FormField]) -> Iterator[str]:
    """Return ids of the files in cases: attachments, and answers to the draft's form."""
    for case in cases:
        yield from case.file_ids
        yield from file_ids_in(form, case.form)


async def _write(session: AsyncSession, flow: FlowRow, cases: Sequence[TestCase]) -> None:
    """Store the rows of the set."""
    rows = {row.name: row for row in await repository.list_cases(session, flow.id, tenant_id=flow.tenant_id)}
    for name in rows.keys() - {case.name for case in cases}:
        await session.delete(rows[name])
    for position, case in enumerate(cases):
        row = rows.get(case.name)
        if row is None:
            row = TestCaseRow(
                flow_id=flow.id,
                tenant_id=flow.tenant_id,
                name=case.name,
                position=position,
                case=_stored(case),
                created_at=now(),
                updated_at=now(),
            )
            session.add(row)
        elif (row.position, row.case) != (position, _stored(case)):
            row.position, row.case, row.updated_at = position, _stored(case), now()
    await session.flush()


def _case(row: TestCaseRow) -> TestCase:
    return TestCase.model_validate({"name": row.name, **row.case})


def _stored(case: TestCase) -> dict[str, JsonValue]:
    return case.model_dump(mode="json", exclude={"name"}, exclude_defaults=True)
